"""A GIFT file as blocks of lines: one question each, with the category and the tags that belong to it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from engine.exchange.gift.escapes import unescaped
from engine.exchange.question import Place
from engine.exchange.reading import Source

__all__ = ["Block", "split_blocks"]

_CATEGORY = re.compile(r"\s*\$CATEGORY:(.*)")
_MOST_TAGS = 100
_TAG = re.compile(r"\[tag:([^\]\n]{1,100})\]")


@dataclass
class Block:
    """The lines of one question, without its comments.

    Parameters
    ----------
    source : Source
    category : str
    tags : tuple of str
        What its comments say in ``[tag:…]``.
    """

    source: Source
    category: str = ""
    tags: tuple[str, ...] = ()
    _lines: list[str] = field(default_factory=list)
    _length: int = 0
    _indices: list[int] = field(default_factory=list)
    _offsets: list[int] = field(default_factory=list)

    def add(self, line: str, offset: int) -> None:
        """Add a line that begins at an offset of the file."""
        self._indices.append(self._length)
        self._offsets.append(offset)
        self._lines.append(line + "\n")
        self._length += len(line) + 1

    @cached_property
    def text(self) -> str:
        """All lines; asked for when the last one has been added."""
        return "".join(self._lines)

    def __bool__(self) -> bool:
        return bool(self._lines)

    def place(self, index: int) -> Place:
        """Return where a character of ``text`` stands in the file."""
        line = max(0, bisect_right(self._indices, index) - 1)
        return self.source.place(self._offsets[line] + index - self._indices[line])


def split_blocks(source: Source) -> Iterator[Block]:
    """Yield the questions of a file in order: what stands between empty lines."""
    category = ""
    block = Block(source)
    offset = 0
    for line in source.text.split("\n"):
        named = _CATEGORY.fullmatch(line)
        if not line.strip() or named is not None:
            if block:
                yield block
            if named is not None:
                category = unescaped(named[1]).strip()
            # comments may stand apart from their question, tags don't
            block = Block(source, category)
        elif line.lstrip().startswith("//"):
            found = tuple(_TAG.findall(line)) if len(block.tags) < _MOST_TAGS else ()
            block.tags = (*block.tags, *found)[:_MOST_TAGS] if found else block.tags
        else:
            block.add(line, offset)
        offset += len(line) + 1
    if block:
        yield block
