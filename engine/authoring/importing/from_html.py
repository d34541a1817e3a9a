"""HTML of other systems as blocks; what has no counterpart here is left out and named.

html5lib builds the tree that a browser would build, however badly tags are nested, and a walk over it makes
the blocks. Two things happen before, because the text comes from strangers: a ``<`` that begins no complete
tag or comment is kept as a character (``a<b`` is maths, and a browser would swallow the rest of the
question), and a text whose tags would cost the parser more than linear time is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING

from engine.authoring.importing.from_mathml import latex_of_mathml
from engine.authoring.importing.text_blocks import (
    Block,
    CodeBlock,
    FormulaRun,
    Inline,
    ListBlock,
    ParagraphBlock,
    QuoteBlock,
    TableBlock,
    TextRun,
    TextTooLong,
    lines_of,
    paragraphs_of,
    plain_characters,
)
from engine.text.words import clean_line

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_BOLD = {"b", "strong"}
_ITALIC = {"i", "em", "var", "cite", "dfn"}
_CODE = {"code", "tt", "kbd", "samp"}
_STRUCK = {"s", "strike", "del"}
_SCRIPTS = {"sub": "_", "sup": "^"}
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "dt", "summary"}
_LISTS = {"ul", "ol", "menu"}
# these begin and end a paragraph, and mean nothing else here
_PARAGRAPHS = {
    "p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "center", "address", "dl",
    "dd", "figure", "figcaption", "details", "fieldset", "form", "hr",
}  # fmt: skip
# these only change the look, which isn't kept
_TRANSPARENT = {
    "span", "font", "small", "big", "u", "ins", "mark", "label", "nobr", "abbr", "acronym", "q", "bdi", "bdo",
    "wbr", "time", "data", "nolink", "tex", "o:p", "ruby", "rb", "a",
}  # fmt: skip
# these go with all that they hold, under the name that the report gives them
_DROPPED = {
    "script": "a script", "style": "a style sheet", "img": "a picture", "picture": "a picture",
    "svg": "a drawing (SVG)", "canvas": "a drawing", "iframe": "an embedded page", "object": "an object",
    "embed": "an object", "applet": "an applet", "video": "a film", "audio": "a sound",
    "input": "an input field", "button": "a button", "select": "a selection field",
    "textarea": "an input field", "map": "an image map", "title": "a page title",
    "noscript": "a text for browsers without scripts", "template": "a template", "xmp": "a listing",
    "noembed": "a text for old browsers", "noframes": "a text for old browsers",
    "math": "a formula in MathML that can't be written in LaTeX", "meta": "page data",
    "link": "a link to a style sheet",
    "base": "page data", "source": "a film or sound", "track": "a film or sound", "area": "an image map",
}  # fmt: skip

_BLANKS = re.compile(r"\s+")
_INDEX = re.compile(r"[A-Za-z0-9+\-−=,.()' ]{1,24}")  # longer ones are words that somebody made small
_SIGNS = re.compile(r"[0-9+\-−=,.()]+|[A-Za-z]")
# lists and quotations in each other: more than this can't be told apart by their indentation on a page
_MAX_DEPTH = 6


def read_html(
    text: str, *, line_ends: bool = False, formulas: Sequence[FormulaRun] = ()
) -> tuple[tuple[Block, ...], list[str]]:
    """Return the blocks of an HTML text, and what was left out.

    Parameters
    ----------
    text : str
    line_ends : bool
        Whether a line end of the text is a line end for the reader.
    formulas : sequence of FormulaRun
        Formulas that were taken out before, see :data:`engine.authoring.importing.text_blocks.PLACEHOLDER`.

    Raises
    ------
    TextTooLong
        Its tags are nested deeper, or are more, than in any question.
    """
    import html5lib  # imported here: only texts with markup need it

    reader = _HtmlReader(line_ends, formulas)
    if _LOOSE.search(text):
        reader.lost.append(_INVISIBLE)
    safe = _LOOSE_AMPERSAND.sub(_AMPERSAND, _without_loose_angles(_LOOSE.sub("", text)))
    try:
        # not parseFragment: that one loses what stands between the cells of a table
        page = html5lib.parse(f"<body>{safe}", namespaceHTMLElements=False)
        blocks = reader.blocks_in(page.find("body"))
    except RecursionError:  # by spans, say, that the parser itself has opened again and again
        raise TextTooLong(_TOO_DEEP) from None
    return tuple(blocks), list(dict.fromkeys(reader.lost))


# stands for a "<" that is only a character; in a text of its own it counts as an invisible character
_ANGLE = "\ue002"
# likewise for a "&" that begins no character reference: html5lib looks each of them up for a long time
_AMPERSAND = "\ue003"
_LOOSE = re.compile(f"[{_ANGLE}{_AMPERSAND}]")
_LOOSE_AMPERSAND = re.compile("&(?![#A-Za-z])")
_INVISIBLE = "invisible characters"
_MAX_TAG = 4000  # characters: html5lib compares each attribute of a tag with all others
_MAX_NESTED = 450  # elements open at once: the walk takes two calls for each, and Python allows a thousand
# Misnested formatting is opened again in every later element, so their product is what the parser works off.
_MAX_WORK = 50_000
_TOO_DEEP = f"a text has HTML nested over {_MAX_NESTED} deep"
_TAG = re.compile(r"""<[/!?A-Za-z](?:[^<>"']++|"[^"]*+"|'[^']*+')*+>""")
# with a stray quote in it, as in <p title=it's>, which begins no value
_STRAY_QUOTE = re.compile(r"""<[/!?A-Za-z](?:[^<>=]++|=(?!\s*["']))*+>""")
_NAME = re.compile(r"</?([A-Za-z][^\s/>]*)")
_FORMATTING = _BOLD | _ITALIC | _CODE | _STRUCK | {"a", "big", "font", "nobr", "small", "u"}
# elements that have no end tag, or whose end tag may be left out
_ENDLESS = {
    "img", "br", "hr", "input", "meta", "link", "base", "source", "track", "area", "embed", "wbr", "col", "p",
    "li", "dt", "dd", "td", "th", "tr", "option",
}  # fmt: skip


def _without_loose_angles(text: str) -> str:
    """Return the text with each ``<`` that begins nothing replaced, after checking what parsing will cost."""
    pieces: list[str] = []
    end = depth = open_formatting = work = 0
    open_tags: Counter[str] = Counter()
    has_comment_end = True
    while (start := text.find("<", end)) >= 0:
        pieces.append(text[end:start])
        if text.startswith("<!--", start):
            close = text.find("-->", start + 4) if has_comment_end else -1
            has_comment_end = close >= 0  # asked once: the search runs to the end of the text
            end = close + 3 if close >= 0 else start + 1
        else:
            limit = start + _MAX_TAG
            tag = _TAG.match(text, start, limit) or _STRAY_QUOTE.match(text, start, limit)
            end = start + 1 if tag is None else tag.end()
            if tag is not None and (match := _NAME.match(tag[0])) is not None:
                name, step = match[1].lower(), -1 if tag[0][1] == "/" else 1
                if (
                    name not in _ENDLESS and open_tags[name] + step >= 0
                ):  # an end tag closes only its own kind
                    open_tags[name] += step
                    depth += step
                    open_formatting += step if name in _FORMATTING else 0
                work += 1 + open_formatting
        if depth > _MAX_NESTED:
            raise TextTooLong(_TOO_DEEP)
        if work > _MAX_WORK:
            raise TextTooLong("a text has more HTML tags than can be read")
        pieces.append(_ANGLE if end == start + 1 else text[start:end])
    return "".join([*pieces, text[end:]])


Nodes = Iterable["Element | str"]
_Maker = Callable[[Nodes, TextRun, int], list[Block]]


@dataclass
class _Flow:
    """Blocks in the making: paragraphs, and the content of the one that is open."""

    blocks: list[Block] = field(default_factory=list)
    content: list[TextRun | FormulaRun] = field(default_factory=list)

    def add(self, inline: TextRun | FormulaRun) -> None:
        last = self.content[-1] if self.content else None
        if isinstance(inline, TextRun) and isinstance(last, TextRun) and replace(last, text="") == replace(
            inline, text=""
        ):  # fmt: skip
            self.content[-1] = replace(last, text=last.text + inline.text)
        else:
            self.content.append(inline)

    def ends_with_break(self) -> bool:
        last = self.content[-1] if self.content else None
        return isinstance(last, TextRun) and last.text.endswith("\n")


class _HtmlReader:
    def __init__(self, line_ends: bool, formulas: Sequence[FormulaRun]) -> None:
        self.line_ends = line_ends
        self.formulas = formulas
        self.lost: list[str] = []

    def blocks_in(self, root: Element) -> list[Block]:
        """Return the blocks of a whole text."""
        return self._blocks(_nodes(root), TextRun(""), 0)

    def _blocks(self, nodes: Nodes, style: TextRun, depth: int) -> list[Block]:
        flow = _Flow()
        self._walk(nodes, flow, style, depth)
        self._end_paragraph(flow)
        return flow.blocks

    def _end_paragraph(self, flow: _Flow) -> None:
        flow.blocks += paragraphs_of(flow.content, self.formulas)
        flow.content = []

    def _walk(self, nodes: Nodes, flow: _Flow, style: TextRun, depth: int) -> None:
        for is_entry, group in groupby(nodes, _is_entry):
            if is_entry:  # outside of any list: they make one
                self._add_block(flow, depth, style, group, self._list)
                continue
            for node in group:
                if isinstance(node, str):
                    self._text(node, flow, style)
                else:
                    self._element(node, flow, style, depth)

    def _element(self, element: Element, flow: _Flow, style: TextRun, depth: int) -> None:
        name, nodes = _name(element), _nodes(element)
        if name in _DROPPED:
            self._dropped(element, flow)
        elif name == "br":
            flow.add(replace(style, text="\n"))
        elif name == "pre":
            self._end_paragraph(flow)
            program = self._program(element)
            if program.strip():
                flow.blocks.append(CodeBlock(program.strip("\n").rstrip()))
        elif name in _SCRIPTS:
            self._script(element, flow, style, depth)
        elif name in _LISTS:
            ordered = name == "ol"
            self._add_block(flow, depth, style, nodes, lambda n, s, d: self._list(n, s, d, ordered))
        elif name == "blockquote":
            self._add_block(flow, depth, style, nodes, self._quote)
        elif name == "table":
            self._end_paragraph(flow)
            self._table(element, flow, style, depth)
        elif name in _HEADINGS or name in _PARAGRAPHS:
            self._end_paragraph(flow)
            self._walk(nodes, flow, replace(style, bold=style.bold or name in _HEADINGS), depth)
            self._end_paragraph(flow)
        else:
            self._note_loss(element, name)
            bold, italic = style.bold or name in _BOLD, style.italic or name in _ITALIC
            inner = TextRun("", bold, italic, style.code or name in _CODE)
            self._walk(nodes, flow, inner, depth)

    def _note_loss(self, element: Element, name: str) -> None:
        if name == "a" and element.get("href"):
            self.lost.append(f"a link to {clean_line(_restored(element.get('href')), 80)}; its text is kept")
        elif name in _STRUCK:
            self.lost.append("a line through words; the words are kept")
        elif name not in _BOLD | _ITALIC | _CODE | _TRANSPARENT:
            self.lost.append(f"the unknown tag <{clean_line(_restored(name), 30)}>; its text is kept")

    def _text(self, raw: str, flow: _Flow, style: TextRun) -> None:
        text = self._plain(raw)
        if not self.line_ends:
            text = _BLANKS.sub(" ", text)
        elif flow.ends_with_break():
            text = text.removeprefix("\n")  # <br> with a line end behind it is one line end
        if text:
            flow.add(replace(style, text=text))

    def _plain(self, raw: str) -> str:
        """Return visible characters; the marks of formulas, and of angles that are text, aren't invisible."""
        marks = "[\ue000-\ue003]" if self.formulas else _LOOSE.pattern
        pieces = [plain_characters(piece) for piece in re.split(marks, raw)]
        if any(has_invisible for _, has_invisible in pieces):
            self.lost.append(_INVISIBLE)
        ends = [*re.findall(marks, raw), ""]
        return _restored("".join(text + mark for (text, _), mark in zip(pieces, ends, strict=True)))

    def _program(self, element: Element) -> str:
        lines = ""
        for node in _nodes(element):
            if isinstance(node, str):
                lines += self._plain(node.expandtabs(4))
            elif _name(node) in _DROPPED:
                self.lost.append(_DROPPED[_name(node)])
            else:
                lines += "\n" if _name(node) == "br" else self._program(node)
        return lines

    def _add_block(self, flow: _Flow, depth: int, style: TextRun, nodes: Nodes, make: _Maker) -> None:
        """Add a list or a quotation; what is nested too deep becomes paragraphs of what holds it."""
        self._end_paragraph(flow)
        if depth < _MAX_DEPTH:
            flow.blocks += make(nodes, style, depth + 1)
            return
        self.lost.append("lists or quotations nested deeper than we show them; their text is kept")
        for content in _contents(nodes):
            self._walk(content, flow, style, depth)
            self._end_paragraph(flow)

    def _quote(self, nodes: Nodes, style: TextRun, depth: int) -> list[Block]:
        blocks = self._blocks(nodes, style, depth)
        return [QuoteBlock(tuple(blocks))] if blocks else []

    def _list(self, nodes: Nodes, style: TextRun, depth: int, ordered: bool = False) -> list[Block]:
        entries = []
        for content in _contents(nodes):
            if blocks := tuple(self._blocks(content, style, depth)):
                entries.append(blocks)
        return [ListBlock(tuple(entries), ordered)] if entries else []

    def _table(self, table: Element, flow: _Flow, style: TextRun, depth: int) -> None:
        """Add a table; one of a single row or column only lays text out, and becomes paragraphs."""
        rows: list[list[tuple[Inline, ...]]] = []
        for caption in table:
            if _name(caption) == "caption":
                self._element(caption, flow, style, depth)
        for row in _rows(table):
            cells = [self._blocks(_nodes(cell), style, depth) for cell in row]
            rows.append([tuple(_on_one_line(lines_of(blocks))) for blocks in cells])
        width = max((len(row) for row in rows), default=0)
        filled = [(*row, *[()] * (width - len(row))) for row in rows if row]
        if width == 1 or len(filled) == 1:
            flow.blocks += (ParagraphBlock(cell) for row in filled for cell in row if cell)
        elif any(cell for row in filled for cell in row):
            flow.blocks.append(TableBlock(tuple(filled)))

    def _script(self, element: Element, flow: _Flow, style: TextRun, depth: int) -> None:
        """Add what is raised or lowered as a small formula, or as words where it is long."""
        inner = _Flow()
        self._walk(_nodes(element), inner, style, depth)
        if inner.blocks:
            self._end_paragraph(flow)
            flow.blocks += inner.blocks
        for _, group in groupby(inner.content, lambda inline: isinstance(inline, TextRun)):
            runs = list(group)
            text = "".join(run.text for run in runs if isinstance(run, TextRun)).strip()
            if _INDEX.fullmatch(text):
                source = text.replace("−", "-") if _SIGNS.fullmatch(text) else f"\\text{{{text}}}"
                flow.add(FormulaRun(f"{_SCRIPTS[_name(element)]}{{{source}}}"))
                continue
            if text:
                self.lost.append(
                    "raised or lowered text that is too long for an index; it is put on the line"
                )
            for run in runs:
                flow.add(run)

    def _dropped(self, element: Element, flow: _Flow) -> None:
        """Add the LaTeX behind an element that isn't shown, or note what is left out."""
        name, alt = _name(element), element.get("alt", "").strip()
        kind = element.get("type", "").lower()
        if name == "script" and kind.startswith("math/tex"):
            flow.add(FormulaRun(_raw(element), "display" in kind))
        elif name == "img" and "texrender" in element.get("class", "").split() and alt:
            flow.add(FormulaRun(_restored(alt)))
        elif name == "img" and "equation_image" in element.get("class", "").split():
            # as Canvas's editor keeps a formula: the picture is made from what stands beside it
            latex = element.get("data-equation-content") or alt.removeprefix("LaTeX:")
            flow.add(FormulaRun(_restored(latex), "block" in element.get("style", "")))
        elif name == "math" and (latex := _latex_of(element)):
            flow.add(FormulaRun(latex, element.get("display") == "block"))
        elif name == "img":
            source = element.get("src", "")
            label = alt or ("" if source.startswith("data:") else source.rpartition("/")[2])
            self.lost.append(f"a picture ({clean_line(_restored(label), 80)})" if label else "a picture")
        else:
            self.lost.append(_DROPPED[name])


def _name(element: Element) -> str:
    """Return the name of a tag without its namespace; empty for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _nodes(element: Element) -> Iterator[Element | str]:
    """Yield the texts and elements directly in an element, in order; comments aren't among them."""
    if element.text:
        yield element.text
    for child in element:
        if isinstance(child.tag, str):
            yield child
        if child.tail:
            yield child.tail


def _is_entry(node: Element | str) -> bool:
    return not isinstance(node, str) and _name(node) == "li"


def _contents(nodes: Nodes) -> Iterator[Nodes]:
    """Yield what each entry of a list holds; what stands between entries is one, too."""
    for is_entry, group in groupby(nodes, _is_entry):
        if is_entry:
            yield from (_nodes(entry) for entry in group if not isinstance(entry, str))
        else:
            yield group


def _restored(text: str | None) -> str:
    return (text or "").replace(_ANGLE, "<").replace(_AMPERSAND, "&")


def _raw(element: Element) -> str:
    return _restored("".join(element.itertext()))


def _rows(table: Element) -> Iterator[list[Element]]:
    """Yield the cells of each row; those of a table within a cell belong to that cell."""
    for child in table:
        if _name(child) == "tr":
            yield [cell for cell in child if _name(cell) in ("td", "th")]
        elif _name(child) in ("tbody", "thead", "tfoot"):
            yield from _rows(child)


def _on_one_line(lines: Iterable[tuple[Inline, ...]]) -> Iterator[Inline]:
    for index, line in enumerate(lines):
        if index:
            yield TextRun(" ")
        yield from line


def _latex_of(math: Element) -> str:
    """Return the LaTeX of a formula in MathML: an annotation, its other text, or from its elements."""
    for element in math.iter():
        if _name(element) == "annotation" and "tex" in element.get("encoding", "").lower():
            return _raw(element).strip() and _raw(element)
    return _restored(math.get("alttext")) or latex_of_mathml(math)
