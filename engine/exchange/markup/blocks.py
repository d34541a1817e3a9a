"""What a text consists of, whatever markup it was written in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = [
    "Block",
    "Break",
    "Formula",
    "Inline",
    "Items",
    "Paragraph",
    "Program",
    "Quote",
    "Run",
    "Table",
    "lines_of",
]


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one style, as they are to be seen."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in LaTeX, without its delimiters."""

    source: str
    display: bool = False


@dataclass(frozen=True, slots=True)
class Break:
    """The end of a line inside a paragraph."""


Inline = Run | Formula | Break


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Characters and formulas that belong together."""

    content: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """Lines whose layout matters."""

    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Blocks that are set off."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """A list; each entry holds blocks."""

    entries: tuple[tuple[Block, ...], ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, all equally many."""

    rows: tuple[tuple[tuple[Inline, ...], ...], ...]


Block = Paragraph | Program | Quote | Items | Table


def lines_of(blocks: Sequence[Block], lead: str = "") -> Iterator[tuple[Inline, ...]]:
    """Yield the content of blocks line by line, for places that hold one run of words."""
    for block in blocks:
        if isinstance(block, Paragraph):
            yield from _led(block.content, lead)
        elif isinstance(block, Program):
            for line in block.text.split("\n"):
                yield (Run(line.strip(), code=True),)
        elif isinstance(block, Quote):
            yield from lines_of(block.blocks, lead)
        elif isinstance(block, Table):
            for row in block.rows:
                cells = [(*cell, Run("  ")) for cell in row]
                yield tuple(inline for cell in cells for inline in cell)
        else:
            for number, entry in enumerate(block.entries, start=1):
                yield from lines_of(entry, f"{number}. " if block.ordered else "– ")


def _led(content: tuple[Inline, ...], lead: str) -> Iterator[tuple[Inline, ...]]:
    """Yield a paragraph's lines, the first one led by the mark of its list."""
    line: list[Inline] = [Run(lead)] if lead else []
    for inline in content:
        if isinstance(inline, Break):
            yield tuple(line)
            line = []
        else:
            line.append(inline)
    yield tuple(line)
