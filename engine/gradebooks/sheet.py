"""A learning system's own file of grades: read as it stands, written with some cells changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.course.delimited import read_delimited
from engine.errors import Diagnostic, UsageError
from engine.gradebooks.cells import csv_bytes, kept_cell
from engine.plurals import counted

__all__ = ["Sheet", "SheetRow", "read_sheet"]

_COMMA = re.compile(r"[+-]?[0-9]++,[0-9]++")
_POINT = re.compile(r"[+-]?[0-9]++\.[0-9]++")


@dataclass(slots=True)
class SheetRow:
    """One row: its line in the file, its cells as they read, and as they are written."""

    line: int
    cells: tuple[str, ...]
    raw: list[str]


@dataclass(slots=True)
class Sheet:
    """The file.

    Parameters
    ----------
    file : str
    header : tuple of str
        Headings as they read.
    head : list of str
        Headings as they are written.
    rows : list of SheetRow
        All others, each as long as the header.
    delimiter : str
    marked : bool
        Whether a byte order mark stands at the beginning.
    decimal_comma : bool
        Whether numbers are written with a comma.
    """

    file: str
    header: tuple[str, ...]
    head: list[str]
    rows: list[SheetRow]
    delimiter: str
    marked: bool
    decimal_comma: bool

    def add_column(self, heading: str) -> int:
        """Add a column at the end, and return its place."""
        self.header = (*self.header, heading)
        self.head.append(heading)
        for row in self.rows:
            row.cells = (*row.cells, "")
            row.raw.append("")
        return len(self.header) - 1

    def changed(self) -> int:
        """Return how many cells are written otherwise than they stand, so that no spreadsheet runs them."""
        return sum(kept_cell(cell) != cell for row in self.rows for cell in row.raw)

    def content(self) -> bytes:
        """Return the file as it is now."""
        rows = ([kept_cell(cell) for cell in row.raw] for row in self.rows)
        return csv_bytes([self.head, *rows], delimiter=self.delimiter, marked=self.marked)


def read_sheet(path: Path) -> Sheet:
    """Read a file of grades.

    Raises
    ------
    UsageError
        It can't be read, is no table, or a row doesn't fit its header: with every fault's line. Nothing
        is made of such a file, for rows would be lost.
    """
    table = read_delimited(path, noun="the gradebook", error=UsageError)
    faults = list(table.faults)
    if not table.rows:
        raise UsageError("the gradebook is empty", where=table.file, expected="a file with a header")
    first, *others = table.rows
    width = len(first.cells)
    rows = []
    for row in others:
        if any(row.raw[width:]):
            told = f"{counted(len(row.cells), 'field')}, but the header has {width}"
            faults.append(Diagnostic(table.file, row.line, 1, told, row.source))
        rows.append(SheetRow(row.line, _fit(row.cells, width), list(_fit(row.raw, width))))
    if faults:
        raise UsageError.of_file(sorted(faults, key=lambda fault: fault.line))
    numbers = [cell for row in rows for cell in row.cells]
    return Sheet(
        file=table.file,
        header=first.cells,
        head=list(first.raw),
        rows=rows,
        delimiter=table.delimiter,
        marked=table.marked,
        decimal_comma=_some(_COMMA, numbers) and not _some(_POINT, numbers),
    )


def _fit(cells: Sequence[str], width: int) -> tuple[str, ...]:
    return (*cells[:width], *[""] * (width - len(cells)))


def _some(form: re.Pattern[str], cells: Iterable[str]) -> bool:
    return any(form.fullmatch(cell) for cell in cells)
