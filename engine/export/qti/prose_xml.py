"""Texts as the XHTML that an item may hold; pictures become files beside the items."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from engine.export.qti.xml_pieces import element, escaped
from engine.model import RenderedText
from engine.prose.prose_tree import (
    ProseBlock,
    ProseBreak,
    ProseCode,
    ProseEmphasis,
    ProseFormula,
    ProseList,
    ProseListing,
    ProseParagraph,
    ProsePicture,
    ProseQuote,
    ProseRun,
    ProseTable,
    ProseText,
    prose_tree,
)

# beside the items, so that an item shown alone finds them too
MEDIA_FOLDER = "media"


class PictureFiles:
    """The pictures of a package; the same picture is one file, whatever shows it."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def add(self, svg: str) -> str:
        """Keep a picture, and return its address as items write it."""
        content = f'<?xml version="1.0" encoding="UTF-8"?>\n{svg}\n'.encode()
        name = f"{MEDIA_FOLDER}/{hashlib.sha256(content).hexdigest()[:16]}.svg"
        self.files[name] = content
        return name


class ProseXml:
    """Writes texts, and keeps their pictures.

    Parameters
    ----------
    pictures : PictureFiles
        Of the whole package.
    """

    def __init__(self, pictures: PictureFiles) -> None:
        self._pictures = pictures
        self.addresses: dict[str, None] = {}
        """Addresses of the pictures in the texts that were written, each once."""

    def blocks(self, text: RenderedText | None) -> str:
        """Return paragraphs, lists, tables … of a text."""
        return "" if text is None else self._blocks(prose_tree(text))

    def inline(self, text: RenderedText) -> str:
        """Return what stands within a line: an option, a card; one that isn't a line keeps its blocks.

        It is one element: a player lays out the pieces of a card beside each other, without the blanks that
        stand between words and formulas.
        """
        blocks = prose_tree(text)
        if len(blocks) == 1 and isinstance(blocks[0], ProseParagraph):
            line = self._runs(blocks[0].runs)
            return element("span", line) if "<" in line else line
        return element("div", self._blocks(blocks))

    def _blocks(self, blocks: Sequence[ProseBlock]) -> str:
        return "".join([self._block(block) for block in blocks])

    def _block(self, block: ProseBlock) -> str:
        match block:
            case ProseParagraph(runs, heading):
                return element("p", element("strong", self._runs(runs)) if heading else self._runs(runs))
            case ProseList(entries, start):
                pieces = [element("li", self._entry(entry)) for entry in entries]
                if start is None:
                    return element("ul", *pieces)
                if start == 1:
                    return element("ol", *pieces)
                # lists of QTI always begin with 1, so that other numbers are written out
                numbered = [f"{number}. {self._entry(entry)}" for number, entry in enumerate(entries, start)]
                return "".join([element("div", piece) for piece in numbered])
            case ProseTable(head, rows):
                return self._table(head, rows)
            case ProseListing(text):
                return element("pre", escaped(text))
            case ProseQuote(inner):
                return element("blockquote", self._blocks(inner))
            case ProsePicture(svg, alt_text, caption):
                address = self._pictures.add(svg)
                self.addresses[address] = None
                picture = element("p", element("img", src=address, alt=alt_text))
                return picture + (element("p", element("em", escaped(caption))) if caption else "")

    def _entry(self, blocks: Sequence[ProseBlock]) -> str:
        if len(blocks) == 1 and isinstance(blocks[0], ProseParagraph):
            return self._runs(blocks[0].runs)
        return self._blocks(blocks)

    def _table(self, head: Sequence[Sequence[ProseRun]], rows: Sequence[Sequence[Sequence[ProseRun]]]) -> str:
        def line(cells: Sequence[Sequence[ProseRun]], tag: str) -> str:
            return element("tr", *[_cell(tag, self._runs(cell)) for cell in cells])

        headings = element("thead", line(head, "th")) if any(head) else ""
        return element("table", headings, element("tbody", *[line(row, "td") for row in rows]))

    def _runs(self, runs: Sequence[ProseRun]) -> str:
        return "".join([self._run(run) for run in runs])

    def _run(self, run: ProseRun) -> str:
        match run:
            case ProseText(text):
                return escaped(text)
            case ProseCode(text):
                return element("code", escaped(text))
            case ProseBreak():
                return element("br")
            case ProseFormula(mathml=mathml):
                return mathml
            case ProseEmphasis(runs, strong):
                return element("strong" if strong else "em", self._runs(runs))


def _cell(tag: str, content: str) -> str:
    # an empty cell stays an element with an end, which HTML needs
    return element(tag, content) if content else f"<{tag}></{tag}>"
