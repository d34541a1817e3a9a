"""A text that was rendered, as a tree: what formats are written from that aren't HTML or LaTeX.

A :class:`~engine.model.RenderedText` keeps three forms and not its source, and stores hold nothing else. So
the tree is read from two of them: the structure from the HTML, which our own renderer wrote, and the source
of each formula from the LaTeX, where formulas stand in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias
from xml.etree.ElementTree import Element, ParseError

from defusedxml.ElementTree import fromstring

from engine.model import RenderedText
from engine.prose.markdown import ProseError
from engine.text.words import count_noun


@dataclass(frozen=True, slots=True)
class ProseText:
    """Characters as they are read; line ends are blanks."""

    text: str


@dataclass(frozen=True, slots=True)
class ProseCode:
    """Characters in a fixed-width typeface."""

    text: str


@dataclass(frozen=True, slots=True)
class ProseBreak:
    """A new line within a paragraph."""


@dataclass(frozen=True, slots=True)
class ProseFormula:
    """A formula.

    Parameters
    ----------
    tex : str
        Its source, without dollars.
    mathml : str
        Its ``<math>`` element, with its namespace; of a displayed formula several where it may be broken.
    display : bool
        Whether it stands on a line of its own.
    """

    tex: str
    mathml: str
    display: bool


@dataclass(frozen=True, slots=True)
class ProseEmphasis:
    """Runs that are set off: in italics, or in bold where `strong`."""

    runs: tuple[ProseRun, ...]
    strong: bool


ProseRun: TypeAlias = ProseText | ProseCode | ProseBreak | ProseFormula | ProseEmphasis


@dataclass(frozen=True, slots=True)
class ProseParagraph:
    """A paragraph; a heading where `heading`."""

    runs: tuple[ProseRun, ...]
    heading: bool = False


@dataclass(frozen=True, slots=True)
class ProseList:
    """A list, numbered from `start` on, or with bullets where that is None."""

    entries: tuple[tuple[ProseBlock, ...], ...]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class ProseTable:
    """A table: its headings, and its rows of as many cells."""

    head: tuple[tuple[ProseRun, ...], ...]
    rows: tuple[tuple[tuple[ProseRun, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class ProseListing:
    """Lines in a fixed-width typeface."""

    text: str


@dataclass(frozen=True, slots=True)
class ProseQuote:
    """Quoted blocks."""

    blocks: tuple[ProseBlock, ...]


@dataclass(frozen=True, slots=True)
class ProsePicture:
    """A picture.

    Parameters
    ----------
    svg : str
        An ``<svg>`` element with its namespace, complete in itself; its ink is ``currentColor``.
    alt_text : str
        Sentences that hold every number of the picture.
    caption : str
        How to read it.
    """

    svg: str
    alt_text: str
    caption: str


ProseBlock: TypeAlias = ProseParagraph | ProseList | ProseTable | ProseListing | ProseQuote | ProsePicture

# What is taken out of the HTML before it is parsed: it is copied and never read. Searched for by `find`, as a
# pattern would look through the whole text again for each start without an end.
_START = re.compile(r'<span class="formulas">|<math |<figure ')
_ENDS = {"<span": "</span>", "<math": "</math>", "<figu": "</figure>"}
_HOLE = re.compile("[\ue000-\uf8ff]")
_FIRST = 0xE000
# A backslash takes its next character along, so that \$ and the \\] of a matrix end no formula.
_SIGN = re.compile(r"\\.|\$", re.DOTALL)
_PICTURE_START, _PICTURE_END = r"\medskip\noindent\begin{tabular}", r"\medskip"
_SVG_NAMESPACE = "http://www.w3.org/2000/svg"
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE = frozenset({"em", "strong", "code", "br"})


@lru_cache(maxsize=1024)
def prose_tree(text: RenderedText) -> tuple[ProseBlock, ...]:
    """Return the blocks of a text; an option or a card is one paragraph.

    Parameters
    ----------
    text : RenderedText
        As :func:`engine.prose.markdown.render_prose` makes it.

    Raises
    ------
    ProseError
        The HTML isn't what our renderer writes, or the formulas of both forms don't agree.

    Examples
    --------
    >>> from engine.prose.markdown import render_prose
    >>> prose_tree(render_prose("Let $x$ be *small*."))[0].runs[0]
    ProseText(text='Let ')
    """
    body, pieces = _without_pieces(text.html)
    try:
        root = fromstring(f"<text>{body}</text>")
    except ParseError as error:
        raise ProseError(f"the HTML of a text can't be parsed: {error}") from None
    return _TreeReader(pieces, text.latex).blocks(root)


def _without_pieces(html: str) -> tuple[str, list[str]]:
    """Return HTML with a hole for each formula and picture, and these."""
    body: list[str] = []
    pieces: list[str] = []
    position = 0
    while (start := _START.search(html, position)) is not None:
        end = _ENDS[start[0][:5]]
        stop = html.find(end, start.end())
        if stop < 0:
            raise ProseError(f"the HTML of a text has no {end}")
        body += [html[position : start.start()], chr(_FIRST + len(pieces))]
        position = stop + len(end)
        pieces.append(html[start.start() : position])
    return "".join(body) + html[position:], pieces


def formula_sources(latex: str) -> Iterator[tuple[str, bool]]:
    """Yield the source of each formula of our LaTeX, and whether it is displayed."""
    begin: tuple[int, str] | None = None  # where a formula begins, and the sign that ends it
    for sign in _SIGN.finditer(latex):
        if begin is not None and sign[0] == begin[1]:
            yield latex[begin[0] : sign.start()].strip(), sign[0] != "$"
            begin = None
        elif begin is None and sign[0] in ("$", r"\["):
            begin = sign.end(), "$" if sign[0] == "$" else r"\]"


def _without_pictures(latex: str) -> str:
    """Return LaTeX without the tables that pictures are: their negative numbers are formulas."""
    parts, position = [], 0
    while (start := latex.find(_PICTURE_START, position)) >= 0:
        parts.append(latex[position:start])
        stop = latex.find(_PICTURE_END, start + len(_PICTURE_START))
        position = len(latex) if stop < 0 else stop + len(_PICTURE_END)
    return "".join(parts) + latex[position:]


class _TreeReader:
    """Reads one text; `pieces` are the formulas and pictures that left holes, in their order."""

    def __init__(self, pieces: list[str], latex: str) -> None:
        formulas = [_bare(piece) for piece in pieces if not piece.startswith("<figure")]
        sources = list(formula_sources(_without_pictures(latex)))
        if len(sources) != len(formulas):
            raise ProseError(f"{count_noun(len(formulas), 'formula')} in HTML, {len(sources)} in LaTeX")
        runs = iter(
            ProseFormula(tex, mathml, display)
            for mathml, (tex, display) in zip(formulas, sources, strict=True)
        )
        self._pieces = [_picture(p) if p.startswith("<figure") else next(runs) for p in pieces]

    def blocks(self, element: Element) -> tuple[ProseBlock, ...]:
        """Return the blocks of an element; runs that stand between blocks are a paragraph."""
        blocks: list[ProseBlock] = []
        runs: list[ProseRun] = []

        def end_paragraph() -> None:
            trimmed = _trimmed(runs)
            if trimmed:
                blocks.append(ProseParagraph(trimmed))
            runs.clear()

        def add_text(text: str | None) -> None:
            for piece in self._text(text):
                if isinstance(piece, ProsePicture):
                    end_paragraph()
                    blocks.append(piece)
                else:
                    runs.append(piece)

        add_text(element.text)
        for child in element:
            if child.tag in _INLINE:
                runs.append(self._inline(child))
            else:
                end_paragraph()
                blocks += self._block(child)
            add_text(child.tail)
        end_paragraph()
        return tuple(blocks)

    def _block(self, element: Element) -> Iterator[ProseBlock]:
        tag = element.tag
        if tag == "p":
            # a picture is a block of its own, wherever the renderer put it
            yield from self.blocks(element)
        elif tag in _HEADINGS:
            yield ProseParagraph(self._runs(element), heading=True)
        elif tag in ("ul", "ol"):
            start = None if tag == "ul" else int(element.get("start", "1"))
            yield ProseList(tuple(self.blocks(entry) for entry in element), start)
        elif tag == "pre":
            yield ProseListing("".join(element.itertext()).rstrip("\n"))
        elif tag == "blockquote":
            yield ProseQuote(self.blocks(element))
        elif tag == "table":
            lines = [tuple(self._runs(cell) for cell in line) for line in element.iter("tr")]
            yield ProseTable(lines[0], tuple(lines[1:]))
        elif tag != "hr":
            raise ProseError(f"a text holds an element <{tag}>")

    def _runs(self, element: Element) -> tuple[ProseRun, ...]:
        runs: list[ProseRun] = [r for r in self._text(element.text) if not isinstance(r, ProsePicture)]
        for child in element:
            runs.append(self._inline(child))
            runs += [r for r in self._text(child.tail) if not isinstance(r, ProsePicture)]
        return _trimmed(runs)

    def _inline(self, element: Element) -> ProseRun:
        if element.tag == "br":
            return ProseBreak()
        if element.tag == "code":
            return ProseCode("".join(element.itertext()))
        if element.tag in ("em", "strong"):
            runs: list[ProseRun] = []
            for text, child in [(element.text, None), *((c.tail, c) for c in element)]:
                if child is not None:
                    runs.append(self._inline(child))
                runs += [r for r in self._text(text) if not isinstance(r, ProsePicture)]
            return ProseEmphasis(tuple(runs), element.tag == "strong")
        raise ProseError(f"a text holds an element <{element.tag}>")

    def _text(self, text: str | None) -> Iterator[ProseText | ProseFormula | ProsePicture]:
        start = 0
        for match in _HOLE.finditer(text or ""):
            if before := _one_line((text or "")[start : match.start()]):
                yield ProseText(before)
            yield self._pieces[ord(match[0]) - _FIRST]
            start = match.end()
        if after := _one_line((text or "")[start:]):
            yield ProseText(after)


def _one_line(text: str) -> str:
    first, *others = text.split("\n")
    if not others:
        return text
    *between, last = others
    return " ".join([first.rstrip(), *(line.strip() for line in between), last.lstrip()])


def _trimmed(runs: list[ProseRun]) -> tuple[ProseRun, ...]:
    """Return runs without blanks at both ends and at the beginning of a line."""
    trimmed = [
        ProseText(run.text.lstrip())
        if isinstance(run, ProseText) and i and runs[i - 1] == ProseBreak()
        else run
        for i, run in enumerate(runs)
    ]
    if trimmed and isinstance(trimmed[0], ProseText):
        trimmed[0] = ProseText(trimmed[0].text.lstrip())
    if trimmed and isinstance(trimmed[-1], ProseText):
        trimmed[-1] = ProseText(trimmed[-1].text.rstrip())
    return tuple(run for run in trimmed if run != ProseText(""))


def _bare(piece: str) -> str:
    """Return the elements of a formula without the span around several."""
    if not piece.startswith("<span"):
        return piece
    return piece[piece.index(">") + 1 : piece.rindex("<")]


def _picture(figure: str) -> ProsePicture:
    try:
        element = fromstring(figure)
    except ParseError as error:
        raise ProseError(f"a picture can't be parsed: {error}") from None
    svg, caption = element.find("svg"), element.find("figcaption")
    if svg is None or not svg.get("aria-label"):
        raise ProseError("a picture has no SVG, or no words for it")
    # as it was written: an XML writer would give every element a prefix
    source = figure[figure.index("<svg ") : figure.index("</svg>") + len("</svg>")]
    return ProsePicture(
        source.replace("<svg ", f'<svg xmlns="{_SVG_NAMESPACE}" ', 1),
        svg.get("aria-label", ""),
        "" if caption is None else "".join(caption.itertext()),
    )
