"""Builds blocks from what a reader meets in order, however badly it is nested."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from engine.exchange.markup.blocks import (
    Block,
    Break,
    Formula,
    Inline,
    Items,
    Paragraph,
    Program,
    Quote,
    Run,
    Table,
    lines_of,
)
from engine.exchange.markup.formulas import split_formulas

__all__ = ["HELD", "Builder", "finished"]

MAX_DEPTH = 12
HELD = re.compile("\ue000([0-9]{1,6})\ue001")
"""Stands for a formula that was taken out before the markup was read."""

Cell = tuple[Inline, ...]


@dataclass
class _Open:
    """Something that is open: the text itself, a quotation, a list or its entry, a table or its cell."""

    kind: str
    blocks: list[Block] = field(default_factory=list)
    ordered: bool = False
    entries: list[tuple[Block, ...]] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)


class Builder:
    """Collects inline content; paragraphs and larger blocks are opened and closed by name.

    Parameters
    ----------
    held : sequence of Formula
        What :data:`HELD` stands for.
    """

    def __init__(self, held: Sequence[Formula] = ()) -> None:
        self._held = held
        self._stack = [_Open("text")]
        self._content: list[Run | Formula] = []
        self._apart = 0  # what stands before this position isn't joined with what follows

    # --- inline content

    def add(self, inline: Run | Formula) -> None:
        r"""Add characters (``\n`` is a line end) or a formula to the paragraph."""
        last = self._content[-1] if len(self._content) > self._apart else None
        both = _together(last, inline)
        if both is None:
            self._content.append(inline)
        else:
            self._content[-1] = both

    @property
    def ends_with_break(self) -> bool:
        """Whether the last thing added is a line end."""
        last = self._content[-1] if self._content else None
        return isinstance(last, Run) and last.text.endswith("\n")

    def mark(self) -> int:
        """Return a mark to :meth:`take` from."""
        self._apart = len(self._content)
        return self._apart

    def take(self, mark: int) -> list[Run | Formula]:
        """Take out what was added since a mark."""
        taken, self._content, self._apart = self._content[mark:], self._content[:mark], mark
        return taken

    # --- blocks

    def paragraph(self) -> None:
        """End the paragraph."""
        content, self._content, self._apart = self._content, [], 0
        paragraphs = finished(content, self._held)
        if paragraphs:
            self._blocks().extend(paragraphs)

    def program(self, text: str) -> None:
        """Add lines whose layout matters."""
        self.paragraph()
        if text.strip():
            self._blocks().append(Program(text.strip("\n").rstrip()))

    def open(self, kind: str, *, ordered: bool = False) -> bool:
        """Open a quotation, list, entry, table, row or cell; False where nesting is too deep."""
        self.paragraph()
        if kind == "entry":
            self._close_down_to("list", but=True)
            if self._stack[-1].kind != "list":
                self._push(_Open("list"))
        elif kind in ("row", "cell"):
            self._close_down_to("table", but=True)
            if self._stack[-1].kind != "table":
                return False
            table = self._stack[-1]
            if kind == "row" or not table.rows:
                table.rows.append([])
            if kind == "row":
                return True
        return self._push(_Open(kind, ordered=ordered))

    def close(self, kind: str) -> None:
        """Close the innermost block of a kind and what is open inside it; nothing if none is."""
        self.paragraph()
        limit = {"entry": "list", "cell": "table"}.get(kind)
        for level in range(len(self._stack) - 1, 0, -1):
            if self._stack[level].kind == kind:
                while len(self._stack) > level:
                    self._pop()
                return
            if self._stack[level].kind == limit:
                return

    def blocks(self) -> tuple[Block, ...]:
        """End everything and return what there is."""
        self.paragraph()
        while len(self._stack) > 1:
            self._pop()
        return tuple(self._stack[0].blocks)

    def _blocks(self) -> list[Block]:
        """Return where the next block belongs."""
        top = self._stack[-1]
        if top.kind == "list":
            self._push(_Open("entry"))
            return self._stack[-1].blocks
        return self._outside_tables()

    def _outside_tables(self) -> list[Block]:
        """Return where blocks go: what stands between the cells of a table goes before it."""
        return next(opened.blocks for opened in reversed(self._stack) if opened.kind != "table")

    def _push(self, opened: _Open) -> bool:
        if len(self._stack) > MAX_DEPTH:
            return False
        if opened.kind != "entry" and self._stack[-1].kind == "list":
            self._stack.append(_Open("entry"))
        self._stack.append(opened)
        return True

    def _close_down_to(self, kind: str, *, but: bool) -> None:
        """Close what is open inside the innermost block of a kind, if there is one."""
        levels = [level for level, opened in enumerate(self._stack) if opened.kind == kind]
        while levels and len(self._stack) > levels[-1] + but:
            self._pop()

    def _pop(self) -> None:
        done = self._stack.pop()
        outer = self._stack[-1]
        blocks = self._outside_tables()
        if done.kind == "quote" and done.blocks:
            blocks.append(Quote(tuple(done.blocks)))
        elif done.kind == "entry" and done.blocks:
            outer.entries.append(tuple(done.blocks))
        elif done.kind == "list" and done.entries:
            blocks.append(Items(tuple(done.entries), done.ordered))
        elif done.kind == "cell":
            outer.rows[-1].append(tuple(_joined(lines_of(done.blocks))))
        elif done.kind == "table":
            blocks.extend(_table(done.rows))


def _together(first: Run | Formula | None, second: Run | Formula) -> Run | None:
    """Return two runs of one style as one, None for anything else."""
    if (
        not isinstance(first, Run)
        or not isinstance(second, Run)
        or replace(first, text=second.text) != second
    ):
        return None
    return replace(first, text=first.text + second.text)


def _joined(lines: Iterable[Cell]) -> Iterator[Inline]:
    for number, line in enumerate(lines):
        if number:
            yield Run(" ")
        yield from line


def _table(rows: Sequence[Sequence[Cell]]) -> Iterator[Block]:
    width = max((len(row) for row in rows), default=0)
    filled = [(*row, *[()] * (width - len(row))) for row in rows if row]
    if not any(cell for row in filled for cell in row):
        return
    if width == 1 or len(filled) == 1:  # used for layout
        yield from (Paragraph(cell) for row in filled for cell in row if cell)
    else:
        yield Table(tuple(filled))


# --- a paragraph that has ended ---------------------------------------------------------


def finished(content: Sequence[Run | Formula], held: Sequence[Formula] = ()) -> list[Paragraph]:
    """Return the paragraphs of some content: formulas found, blanks joined, empty lines as borders."""
    pieces: list[Inline] = []
    for inline in content:
        if isinstance(inline, Formula):
            pieces.append(inline)
            continue
        for part in [inline.text] if inline.code else _with_held(inline.text, held):
            pieces += [part] if isinstance(part, Formula) else _lines(part, inline)
    return [Paragraph(tuple(line)) for line in _paragraphs(pieces) if line]


def _with_held(text: str, held: Sequence[Formula]) -> Iterator[str | Formula]:
    at = 0
    for found in HELD.finditer(text):
        yield from split_formulas(text[at : found.start()])
        if int(found[1]) < len(held):
            yield held[int(found[1])]
        at = found.end()
    yield from split_formulas(text[at:])


def _lines(text: str, style: Run) -> Iterator[Inline]:
    text = text.replace("\ue000", "").replace("\ue001", "")
    for number, line in enumerate(text.split("\n")):
        if number:
            yield Break()
        if line:
            yield replace(style, text=re.sub(" +", " ", line))


def _paragraphs(pieces: Sequence[Inline]) -> Iterator[list[Inline]]:
    """Yield content between empty lines, without blanks at the ends of lines."""
    lines: list[list[Inline]] = [[]]
    for piece in pieces:
        if isinstance(piece, Break):
            lines.append([])
        else:
            lines[-1].append(piece)
    paragraph: list[Inline] = []
    for line in [_trimmed(line) for line in lines]:
        if not line:
            yield paragraph
            paragraph = []
        else:
            paragraph += [Break(), *line] if paragraph else line
    yield paragraph


def _trimmed(line: list[Inline]) -> list[Inline]:
    """Return a line whose runs have no blanks at its ends and no two blanks where they meet."""
    kept: list[Inline] = []
    for piece in line:
        last = kept[-1] if kept else None
        after_blank = last is None or (isinstance(last, Run) and last.text.endswith(" "))
        if isinstance(piece, Run) and after_blank:
            piece = replace(piece, text=piece.text.lstrip(" "))
        if not isinstance(piece, Run) or piece.text:
            kept.append(piece)
    while kept and isinstance(end := kept[-1], Run):
        text = end.text.rstrip(" ")
        if text:
            kept[-1] = replace(end, text=text)
            break
        kept.pop()
    return kept
