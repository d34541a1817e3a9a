"""A drawn item as the Markdown of a Jupyter cell, with TeX between dollars.

Texts of items are Markdown already. What Jupyter would read in another way than we do is written so that both
read the same: HTML, links and pictures.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator, Mapping

from engine.draws import RandomStream, seeded_key
from engine.items import ProblemSpec
from engine.model import ChoiceOption, Part, RenderedText, Variant
from engine.prose.markdown import HoledText, Picture, take_pieces
from engine.prose.pictures import FENCE, picture_text
from engine.prose.stems import fill_template
from engine.text.words import points_text
from engine.variants.draw_variant import differs_from_printed, renderer_of, reveals_key, solve

_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_FENCED_HOLE = re.compile(rf"```{FENCE}\n(?P<hole>.)\n```")
_TEX = re.compile(r"(?<!\\)\$(?P<tex>.+?)(?<!\\)\$", re.DOTALL)
# Signs that Markdown or Jupyter's maths would take for their own, in words of options.
_SIGNS = re.compile(r"([\\`*_$|~#])")
_TAGS = {"<code>": "`", "</code>": "`", "<em>": "*", "</em>": "*", "<strong>": "**", "</strong>": "**"}
_SVG = re.compile(r"<svg\b.*</svg>", re.DOTALL)
_LABEL = re.compile(r'aria-label="([^"]*)"')
_TAG = re.compile(r"(</?[a-z]++[^<>]*+>)")


def statement_markdown(
    spec: ProblemSpec, variant: Variant, registry: Mapping[str, str], *, seed: int, number: int
) -> str:
    """Return what is asked: title, points, stem, notes, steps and options; never the key.

    Parameters
    ----------
    spec : ProblemSpec
    variant : Variant
        Drawn from it with `seed`.
    registry : mapping of str to str
        Feedback sentence by misconception.
    seed : int
    number : int
        Of the item in its notebook.
    """
    solved = solve(spec, RandomStream.of_key(seeded_key(seed), "parameters"))
    names = renderer_of(solved, registry).names

    def text(template: str) -> str:
        return jupyter_markdown(fill_template(template, names)).strip()

    blocks = [
        f"## {number}. {words_markdown(variant.title)} ({points_text(variant.points)})",
        text(spec.stem),
    ]
    if differs_from_printed(spec):
        blocks.append(f"*Note:* {inline_markdown(variant.notes[0])}")
    blocks += [
        f"*Note:* {text(erratum.note)}"
        for erratum in spec.errata
        if erratum.note and not reveals_key(erratum)
    ]
    prompts = {step.id: step.prompt for step in spec.steps}
    for part in variant.parts:
        if len(variant.parts) > 1:
            blocks.append(
                f"**{part.id}** ({points_text(part.points)}) {text(prompts.get(part.id) or '')}".strip()
            )
        blocks += _choices(part)
    return "\n\n".join(block for block in blocks if block)


def _choices(part: Part) -> Iterator[str]:
    for choices, form in ((part.prompts, "{}."), (part.options, "({})")):
        if choices:
            yield "\n".join(f"- {form.format(choice.id)} {_choice_text(choice)}" for choice in choices)


def _choice_text(choice: ChoiceOption) -> str:
    return inline_markdown(choice.text).replace("\n", " ")


def jupyter_markdown(source: str) -> str:
    """Return Markdown of ours, without templates, as Jupyter reads it."""
    body, pieces = take_pieces(source)
    parts: list[str] = []
    for place, text in enumerate(_CODE.split(body)):
        # Every other one is code, where every sign stands for itself. Elsewhere a dollar that is left is a
        # dollar, as formulas are holes by now: two of them would make a formula in Jupyter.
        parts.append(text if place % 2 else _without_html(text).replace("$", r"\$"))
    body = _FENCED_HOLE.sub(lambda match: match["hole"], "".join(parts))
    forms: list[str] = []
    for piece in pieces:
        if isinstance(piece, Picture):
            forms.append(_picture_markdown(picture_text(piece.kind, piece.data)))
        else:
            forms.append(f"$${piece.source}$$" if piece.display else f"${piece.source}$")
    # A bar in a formula would end a cell of a table.
    lines = body.split("\n")
    in_tables = {place for line in lines if line.startswith("|") for place in HoledText(line).places}
    forms = [form.replace("|", r"\vert ") if place in in_tables else form for place, form in enumerate(forms)]
    return HoledText(body).filled(forms)


def _without_html(text: str) -> str:
    # Jupyter shows HTML and links in Markdown, our texts have none; entities are read by both.
    text = text.replace("<", "&lt;")
    return re.sub(r"\](?=[(\[:])", r"&#93;", text)


def _picture_markdown(picture: RenderedText) -> str:
    """Return a picture as an image within the text: its SVG, all of its numbers in the alternative text."""
    drawing = _SVG.search(picture.html)
    caption = picture.html.partition("<figcaption>")[2].partition("</figcaption>")[0]
    assert drawing is not None
    label = _LABEL.search(drawing[0])
    # As an image of its own it has no colours of the page around it: black on white, in dark themes too.
    svg = drawing[0].replace(
        "<svg", '<svg xmlns="http://www.w3.org/2000/svg" style="background:#fff" color="#000"', 1
    )
    data = base64.b64encode(svg.encode()).decode("ascii")
    alternative = html.unescape(label[1]) if label else ""
    alternative = re.sub(r"[\[\]\\]", " ", alternative)
    words = f"\n\n*{words_markdown(html.unescape(caption))}*" if caption else ""
    return f"![{alternative}](data:image/svg+xml;base64,{data}){words}"


def inline_markdown(text: RenderedText) -> str:
    """Return one run of words, such as an option, in Markdown."""
    formulas = iter([match["tex"] for match in _TEX.finditer(text.latex)])
    words, *others = text.html.split("<math")
    parts = [_words_of_html(words)]
    # The formulas of both forms are in the same order.
    for other in others:
        parts += [f"${next(formulas)}$", _words_of_html(other.partition("</math>")[2])]
    return "".join(parts).strip()


def _words_of_html(source: str) -> str:
    parts: list[str] = []
    in_code = False
    for part in _TAG.split(source):
        if part in _TAGS:
            in_code = part == "<code>" or (in_code and part != "</code>")
            parts.append(_TAGS[part])
        elif not _TAG.fullmatch(part):
            words = html.unescape(part)
            parts.append(words if in_code else words_markdown(words))
    return "".join(parts)


def words_markdown(words: str) -> str:
    """Return plain words so that no sign in them is taken for Markdown, maths or HTML."""
    return _without_html(_SIGNS.sub(r"\\\1", words))
