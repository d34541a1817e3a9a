"""Markdown with ``$…$`` and ``$$…$$`` maths into plain text, HTML and LaTeX.

There are no links, images or raw HTML: what an author writes can't lead a student's browser anywhere. The
formulas and pictures are taken out first and leave holes, private-use characters. So the structure of a text
is parsed once and kept, and a variant whose values are in formulas only fills the holes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.model import RenderedText
from engine.prose.maths import MathsError, maths_forms
from engine.prose.pictures import FENCE, PictureFault, picture_text
from engine.text.words import escape_latex

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

PREAMBLE = r"""\usepackage[T1]{fontenc}
\usepackage{amsmath}
\usepackage{amssymb}"""
"""What a document needs that holds our LaTeX."""

# LaTeX would take a bracket or star after a line break, and a bracket after \item, for an argument of theirs
_ARGUMENT_LIKE = re.compile(r"(?:\\\\\n|\\item )(?=[\[*])")
_LATEX_BLOCKS = {
    "bullet_list_open": "\n\\begin{itemize}",
    "bullet_list_close": "\n\\end{itemize}\n",
    "ordered_list_open": "\n\\begin{enumerate}",
    "ordered_list_close": "\n\\end{enumerate}\n",
    "list_item_open": "\n\\item ",
    "paragraph_open": "\n\n",
    "heading_open": "\n\n\\textbf{",
    "heading_close": "}",
    "blockquote_open": "\n\\begin{quote}",
    "blockquote_close": "\n\\end{quote}\n",
    "th_close": " & ",
    "td_close": " & ",
    "tr_close": " \\\\\n",
    "thead_close": "\\hline\n",
    "table_close": "\\end{tabular}\n",
}
_LATEX_INLINE = {
    "softbreak": "\n",
    "hardbreak": "\\\\\n",
    "em_open": "\\emph{",
    "em_close": "}",
    "strong_open": "\\textbf{",
    "strong_close": "}",
}


class LatexText:
    """Writes the tokens of markdown-it as LaTeX; holes stay."""

    def blocks(self, tokens: Sequence[Token]) -> str:
        """Return whole blocks."""
        parts: list[str] = []
        for i, token in enumerate(tokens):
            if token.type == "inline":
                parts.append(self.inline(token.children or []))
            elif token.type == "picture":
                parts.append(f"\n\n{token.content}\n")
            elif token.type in ("fence", "code_block"):
                parts += [
                    "\n\n\\texttt{",
                    escape_latex(token.content.strip()).replace("\n", "}\\\\\n\\texttt{"),
                    "}\n",
                ]
            elif token.type == "table_open":
                columns = next(j for j, t in enumerate(tokens[i:]) if t.type == "tr_close")
                count = sum(t.type == "th_open" for t in tokens[i : i + columns])
                parts.append("\n\n\\begin{tabular}{" + "l" * count + "}\n")
            elif token.type == "tr_close":
                parts[-1] = parts[-1].removesuffix(" & ")
                parts.append(_LATEX_BLOCKS["tr_close"])
            elif token.type == "paragraph_open" and token.hidden:
                continue
            else:
                parts.append(_LATEX_BLOCKS.get(token.type, ""))
        text = re.sub(r"\n{3,}", "\n\n", "".join(parts)).strip("\n")
        return _ARGUMENT_LIKE.sub(r"\g<0>{}", text)

    def inline(self, children: Iterable[Token]) -> str:
        """Return a run of words."""
        parts = []
        for child in children:
            if child.type == "text":
                parts.append(escape_latex(child.content))
            elif child.type == "code_inline":
                parts.append(f"\\texttt{{{escape_latex(child.content)}}}")
            else:
                parts.append(_LATEX_INLINE.get(child.type, ""))
        return "".join(parts)


# The private-use characters: no text of an author has a use for one of these 6,400.
_FIRST = 0xE000
_HOLE = re.compile("[\ue000-\uf8ff]")
_HOLES = re.compile("([\ue000-\uf8ff])")
# No character at all: escaped dollars until all others are found.
_DOLLAR = "\ufdd0"
# Code comes first in the alternatives, so that a dollar inside it is one.
_PIECE = re.compile(
    r"(?P<code>```.*?```|`[^`\n]*`)|(?P<dollar>\\\$)"
    r"|\$\$(?P<display>(?:\\.|[^$\\])+)\$\$|\$(?P<inline>(?:\\.|[^$\\])+?)\$",
    re.DOTALL,
)
_PICTURE = re.compile(rf"```{FENCE} (?P<kind>[a-z_]+)\n(?P<data>.*)\n[ \t]*```", re.DOTALL)
_MACRO = re.compile(r"\\[A-Za-z]+")
# A number that is one to Markdown too, whatever its digits are: it begins no list, and isn't all of a fence,
# where its hole would be taken for a picture's.
_NUMBER = re.compile(r"(?<=[ (])\d+(?:\.\d++|(?![\d.)]))(?!\s*(?:[`~]|\Z))")
_MOST_NUMBERS = 1000  # there are 6,400 holes


class ProseError(ValueError):
    """A text that can't be rendered; the message says what is wrong and where."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula that was taken out of a text."""

    source: str
    display: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that was taken out of a text."""

    kind: str
    data: str


def hole_of(place: int) -> str:
    """Return the hole of a value."""
    return chr(_FIRST + place)


class HoledText:
    """A text with holes, each a character: the first of `holes` is that of value 0, the others follow."""

    __slots__ = ("_rest", "_start", "places")

    def __init__(self, text: str, holes: re.Pattern[str] = _HOLES, first: int = _FIRST) -> None:
        self._start, *rest = holes.split(text)
        self.places = [ord(hole) - first for hole in rest[::2]]
        self._rest = list(zip(self.places, rest[1::2], strict=True))

    def filled(self, values: Sequence[str]) -> str:
        """Return the text with a value in each hole."""
        if not self._rest:
            return self._start
        return self._start + "".join([values[place] + after for place, after in self._rest])


@dataclass(frozen=True, slots=True)
class TextSkeleton:
    """A parsed text whose formulas and pictures are holes."""

    html: HoledText
    latex: HoledText
    plain: Callable[[Sequence[str]], str]
    pictures: int
    has_table: bool


def render_prose(source: str, *, inline: bool = False) -> RenderedText:
    """Return a text in its three forms.

    Parameters
    ----------
    source : str
        Markdown with maths.
    inline : bool
        One run of words, without paragraphs (options, cards).

    Raises
    ------
    ProseError
        A formula isn't in our subset, a dollar sign has no partner, or maths is outside dollars.
    """
    return rendered(*take_pieces(source), inline)


def rendered(body: str, pieces: Sequence[Formula | Picture], inline: bool) -> RenderedText:
    """Return the text whose formulas and pictures were taken out; errors as of :func:`render_prose`."""
    numbers: list[str] = []

    def hole(match: re.Match[str]) -> str:
        numbers.append(match[0])
        return hole_of(len(pieces) + len(numbers) - 1)

    # the numbers of each variant's own table would have it parsed anew
    skeleton = text_skeleton(_NUMBER.sub(hole, body, count=_MOST_NUMBERS), inline)
    # a picture that isn't found again as a block stood inside a line, where Markdown takes it for code
    if skeleton.pictures != sum(isinstance(piece, Picture) for piece in pieces):
        raise ProseError("a picture goes on lines of its own; it can't be part of a line or an option")
    try:
        forms = [_forms(piece) for piece in pieces]
    except (MathsError, PictureFault) as error:
        raise ProseError(str(error)) from None
    return RenderedText(
        skeleton.plain([form.plain for form in forms] + numbers),
        skeleton.html.filled([form.html for form in forms] + numbers),
        skeleton.latex.filled([form.latex for form in forms] + numbers),
    )


def _forms(piece: Formula | Picture) -> RenderedText:
    if isinstance(piece, Picture):
        return picture_text(piece.kind, piece.data)
    return formula_forms(piece, *maths_forms(piece.source, piece.display))


def formula_forms(formula: Formula, plain: str, element: str) -> RenderedText:
    """Return a formula's place in the three forms of a text, from its readable text and its MathML."""
    if formula.display:
        # indented, so that plain text keeps it on its line
        return RenderedText(f"\n    {plain}\n", element, f"\\[{formula.source}\\]")
    return RenderedText(plain, element, f"${formula.source}$")


def take_pieces(source: str) -> tuple[str, list[Formula | Picture]]:
    """Return the text with a hole for each formula and picture, and these.

    Raises
    ------
    ProseError
        A dollar sign has no partner, maths is outside dollars, or the text holds a hole.
    """
    if _HOLE.search(source):
        raise ProseError("the text holds a private-use character")
    pieces: list[Formula | Picture] = []

    def hole_for(piece: Formula | Picture) -> str:
        pieces.append(piece)
        return hole_of(len(pieces) - 1)

    def hole(match: re.Match[str]) -> str:
        if match["code"]:
            if (picture := _PICTURE.fullmatch(match["code"])) is None:
                return match["code"]
            return f"```{FENCE}\n{hole_for(Picture(picture['kind'], picture['data']))}\n```"
        if match["dollar"]:
            return _DOLLAR  # until the search for dollars without a partner is over
        display = match["display"] is not None
        formula = (match["display"] if display else match["inline"]).strip()
        if "\n\n" in formula:
            raise ProseError("a formula goes on over an empty line; is a $ missing?")
        return hole_for(Formula(formula, display))

    body = _PIECE.sub(hole, source)
    # a macro or a dollar outside is a formula whose dollar was forgotten; students would read LaTeX
    outside = re.sub(r"```.*?```|`[^`\n]*`", "", body, flags=re.DOTALL)
    if "$" in outside:
        raise ProseError(r"a $ has no partner; write \$ for a dollar sign")
    if (macro := _MACRO.search(outside)) is not None:
        raise ProseError(f"{macro[0]} is outside $…$")
    return body.replace(_DOLLAR, "$"), pieces


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    markdown = (
        MarkdownIt("commonmark", {"html": False})
        .enable("table")
        # lheading: a line of dashes under a text, meant as a rule, would make a heading of it
        .disable(["image", "link", "reference", "autolink", "html_block", "html_inline", "lheading"])
    )
    markdown.add_render_rule("picture", lambda renderer, tokens, index, options, env: tokens[index].content)
    return markdown


@lru_cache(maxsize=4096)
def text_skeleton(body: str, inline: bool) -> TextSkeleton:
    """Return a text with holes, parsed."""
    markdown = _markdown()
    tokens = markdown.parseInline(body.strip()) if inline else markdown.parse(body)
    for token in tokens:
        # only a hole is a picture: whatever else somebody writes into such a block is shown as code
        if token.type == "fence" and token.info.strip() == FENCE and _HOLE.fullmatch(token.content.strip()):
            token.type, token.content = "picture", token.content.strip()
    html = markdown.renderer.render(tokens, markdown.options, {}).strip()
    # the columns of a table are as wide as the numbers of each variant, so that it can't be laid out once
    has_table = any(token.type == "table_open" for token in tokens)
    if has_table:

        def plain(values: Sequence[str]) -> str:
            return _PlainText(values).blocks(tokens)

    else:
        template = _PlainText(None).blocks(tokens)
        loose, tidy = HoledText(template), HoledText(_tidy(template))

        def plain(values: Sequence[str]) -> str:
            # only what begins or ends with a blank, or has lines of its own, can make the lines untidy
            if all(value and "\n" not in value and value == value.strip() for value in values):
                return tidy.filled(values)
            return _tidy(loose.filled(values))

    pictures = sum(token.type == "picture" for token in tokens)
    latex = HoledText(LatexText().blocks(tokens))
    return TextSkeleton(HoledText(html), latex, plain, pictures, has_table)


def _tidy(text: str) -> str:
    """Return lines without trailing blanks, and without the blanks around displayed formulas."""
    lines: list[str] = []
    for line in text.split("\n"):
        # a displayed formula is indented by four; the blank after it in its sentence now begins a line
        is_after_display = bool(lines) and lines[-1].startswith("    ") and line[:1] == " " != line[1:2]
        lines.append(line.strip() if is_after_display else line.rstrip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


class _PlainText:
    """Writes tokens as plain text, holes filled with `values`; without them the holes stay."""

    def __init__(self, values: Sequence[str] | None) -> None:
        self._values = values

    def blocks(self, tokens: Sequence[Token]) -> str:
        parts: list[str] = []
        numbers: list[int | None] = []
        table: list[list[str]] = []
        for token in tokens:
            match token.type:
                case "ordered_list_open" | "bullet_list_open":
                    if not numbers:
                        parts.append("\n")
                    start = int(token.attrs.get("start", 1)) - 1
                    numbers.append(start if token.type == "ordered_list_open" else None)
                case "ordered_list_close" | "bullet_list_close":
                    numbers.pop()
                case "list_item_open":
                    if numbers[-1] is not None:
                        numbers[-1] += 1
                    indent = "  " * (len(numbers) - 1)
                    parts.append("\n" + indent + ("- " if numbers[-1] is None else f"{numbers[-1]}. "))
                case "paragraph_open" | "heading_open" if not numbers:
                    parts.append("\n\n")
                case "inline" if table:
                    table[-1].append(self.inline(token.children or []))
                case "inline":
                    parts.append(self.inline(token.children or []))
                case "table_open":
                    table = []
                case "tr_open":
                    table.append([])
                case "table_close":
                    parts.append("\n\n" + _aligned(table))
                    table = []
                case "picture":
                    parts.append("\n\n" + self._filled(token.content))
                case "fence" | "code_block":
                    lines = self._filled(token.content).splitlines()
                    parts.append("\n\n" + "\n".join("    " + line for line in lines))
        text = "".join(parts)
        return (_tidy(text) if self._values is not None else text).strip("\n")

    def inline(self, children: Iterable[Token]) -> str:
        parts = []
        for child in children:
            match child.type:
                case "text" | "code_inline":
                    parts.append(child.content)
                case "softbreak":
                    parts.append(" ")
                case "hardbreak":
                    parts.append("\n")
        return self._filled("".join(parts))

    def _filled(self, text: str) -> str:
        return text if self._values is None else HoledText(text).filled(self._values)


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)
