"""What one student has under one heading."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from engine.marks.gradebooks.columns import TargetColumn
from engine.marks.gradebooks.formats import GradebookNotice, GradebookRequest, NoticeKind
from engine.marks.results import StudentRow, TableCell, TableColumn
from engine.model import Outcome
from engine.text.escape import clean_line
from engine.text.tables import number_cell, text_cell
from engine.text.words import agree

__all__ = [
    "CellSigns",
    "EntryState",
    "GradebookEntry",
    "NewRows",
    "comment_of",
    "entry_cell",
    "entry_of",
    "tell_entry",
]


class EntryState(StrEnum):
    """What an entry is; only points are a number, and none of the others is a 0."""

    POINTS = "points"
    EXCUSED = "excused"
    MISSING = "missing"
    UNGRADED = "ungraded"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class GradebookEntry:
    """What a student has under a heading.

    Parameters
    ----------
    state : EntryState
    points : float or None
    scaled_from : (float, float) or None
        Points and full points before they were scaled, where a part is left out for this student only.
    unread : tuple of str
        Ids of the columns whose hand-in can't be read, and that count for nothing.
    """

    state: EntryState
    points: float | None = None
    scaled_from: tuple[float, float] | None = None
    unread: tuple[str, ...] = ()


def entry_of(row: StudentRow, target: TargetColumn, *, scaled: bool = True) -> GradebookEntry:
    """Return what a student has under a heading.

    A sum isn't known while a part of it is ungraded. What is excused (or, in a sum, dropped) is left out.

    Parameters
    ----------
    row : StudentRow
    target : TargetColumn
    scaled : bool
        Whether the heading has full points in a learning system: where fewer count for this student, the rest
        stands for the whole. Otherwise the sum is the one that pages show.
    """
    if target.is_percent:
        return _percent(row)
    cells = [(column, row.cells.get(column.id)) for column in target.columns]
    kept = [(column, cell) for column, cell in cells if cell is None or not _is_excused(cell)]
    if not kept and cells:
        return GradebookEntry(EntryState.EXCUSED)
    # A dropped mark is left out of sums; alone under its heading it is the student's mark.
    kept = [one for one in kept if one[1] is None or not one[1].is_left_out] or kept
    if any(cell is not None and cell.is_waiting for _, cell in kept):
        return GradebookEntry(EntryState.UNGRADED)
    unread = tuple(column.id for column, cell in kept if cell is not None and _is_unread(cell))
    counted = [cell.counted for _, cell in kept if cell is not None and cell.counted is not None]
    if not counted:
        return GradebookEntry(EntryState.UNREADABLE if unread else EntryState.MISSING, unread=unread)
    points = round(math.fsum(counted), 6)
    full = sum(column.max_score for column, _ in kept)
    if not scaled or not 0 < full < target.maximum:
        return GradebookEntry(EntryState.POINTS, points, unread=unread)
    whole = float(round(Fraction(points) * Fraction(target.maximum) / Fraction(full), 6))
    return GradebookEntry(EntryState.POINTS, whole, (points, full), unread)


def comment_of(row: StudentRow, columns: Sequence[TableColumn]) -> str:
    """Return why marks are what they are, and what people wrote about them, in one line."""
    told = []
    for column in columns:
        mark = cell.mark if (cell := row.cells.get(column.id)) is not None else None
        if mark is not None and mark.reasons:
            head = f"{column.item}: " if len(columns) > 1 else ""
            told.append(head + "; ".join(clean_line(reason, 2_000) for reason in mark.reasons))
    return ". ".join(told)


def _percent(row: StudentRow) -> GradebookEntry:
    if row.percent is not None:
        return GradebookEntry(EntryState.POINTS, row.percent)
    return GradebookEntry(EntryState.UNGRADED if row.is_waiting else EntryState.MISSING)


def _is_excused(cell: TableCell) -> bool:
    return cell.mark is not None and cell.mark.excused


def _is_unread(cell: TableCell) -> bool:
    return cell.outcome is Outcome.FORMAT_ERROR and cell.counted is None


# ----------------------------------------------------------------------------------------------------
# How a format writes what is no number.


@dataclass(frozen=True, slots=True)
class CellSigns:
    """The signs of a format.

    Parameters
    ----------
    excused : str or None
        None where it has no sign for it.
    missing, ungraded, unreadable : str
    locked : mapping of str to str
        A cell of the learning system that is never written to → why.
    """

    excused: str | None
    missing: str = ""
    ungraded: str = ""
    unreadable: str = ""
    locked: Mapping[str, str] = field(default_factory=dict)

    def has(self, entry: GradebookEntry) -> bool:
        """Tell whether an entry is a mark that can be written: points, or the sign for excused."""
        return entry.points is not None or (entry.state is EntryState.EXCUSED and self.excused is not None)


def entry_cell(entry: GradebookEntry, signs: CellSigns, *, decimal_comma: bool = False) -> str:
    """Return an entry as the cell of a text file."""
    if entry.points is not None:
        return number_cell(entry.points, decimal_comma=decimal_comma)
    if entry.state is EntryState.EXCUSED and signs.excused is not None:
        return signs.excused
    words = {EntryState.UNGRADED: signs.ungraded, EntryState.UNREADABLE: signs.unreadable}
    return words.get(entry.state, signs.missing)


def tell_entry(entry: GradebookEntry, student: str, heading: str, *, had: str = "") -> list[GradebookNotice]:
    """Return what a person should know of an entry: no mark though there is work, and how a sum came about.

    Parameters
    ----------
    entry : GradebookEntry
    student : str
    heading : str
    had : str
        What stands in the learning system's file.
    """
    head = clean_line(heading, 80)
    stood = f" ({clean_line(had, 40)} stood there)" if had else ""
    found = []
    if entry.state is EntryState.UNGRADED:
        found.append(
            GradebookNotice(
                NoticeKind.UNGRADED, student, f"{head}: not graded yet, no mark is written{stood}"
            )
        )
    elif entry.state is EntryState.UNREADABLE:
        told = f"{head}: what was handed in can't be read, no mark is written{stood}"
        found.append(GradebookNotice(NoticeKind.UNREADABLE, student, told))
    elif entry.unread:
        count = agree(len(entry.unread), "count")
        told = f"{head}: {', '.join(entry.unread)} can't be read and {count} for nothing"
        found.append(GradebookNotice(NoticeKind.UNREADABLE, student, told))
    if entry.scaled_from is not None:
        points, full = (number_cell(value) for value in entry.scaled_from)
        written = "" if entry.points is None else f" and is written as {number_cell(round(entry.points, 2))}"
        told = f"{head}: a part is excused or dropped, so {points} of {full} stands for the whole{written}"
        found.append(GradebookNotice(NoticeKind.NOTE, student, told))
    return found


# ----------------------------------------------------------------------------------------------------
# Rows of a new text file: a cell for each target.


class NewRows:
    """Makes the cells of one student after another, and counts and lists what they hold.

    Parameters
    ----------
    targets : sequence of TargetColumn
    signs : CellSigns
    request : GradebookRequest
        With ``feedback`` a column of comments follows each target's.
    scaled : bool
        As in :func:`engine.marks.gradebooks.cells.entry_of`.
    """

    def __init__(
        self,
        targets: Sequence[TargetColumn],
        signs: CellSigns,
        request: GradebookRequest,
        *,
        scaled: bool = True,
    ) -> None:
        self._scaled = scaled
        self._targets = targets
        self._signs = signs
        self._feedback = request.feedback
        self._decimal_comma = request.decimal_comma
        self.marks = 0
        self.listed: list[GradebookNotice] = []

    @property
    def headings(self) -> dict[str, str]:
        """Heading → ids of ours."""
        return {target.heading: target.ids for target in self._targets}

    def head(self) -> list[str]:
        """Return the headings."""
        heads = [text_cell(target.heading) for target in self._targets]
        return [
            cell for head in heads for cell in ((head, f"{head} (feedback)") if self._feedback else (head,))
        ]

    def cells(self, row: StudentRow) -> list[str]:
        """Return the cells of one student."""
        found = []
        for target in self._targets:
            entry = entry_of(row, target, scaled=self._scaled)
            self.listed += tell_entry(entry, row.student, target.heading)
            self.marks += self._signs.has(entry)
            found.append(entry_cell(entry, self._signs, decimal_comma=self._decimal_comma))
            if self._feedback:
                found.append(text_cell(comment_of(row, target.columns)))
        return found
