"""One student's entry under one heading, and how each format writes it as a cell.

An entry is points, or the reason why there are none. Formats differ only in their signs for these reasons
(:class:`CellSigns`): Canvas writes ``EX`` for excused, Moodle ``-`` for no grade, plain tables say the word.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from engine.marks.class_table import StudentRow, TableCell, TableColumn
from engine.marks.gradebooks.columns import TargetColumn
from engine.marks.gradebooks.formats import GradebookNotice, GradebookRequest, NoticeKind
from engine.model import Outcome
from engine.text.tables import number_cell, text_cell
from engine.text.words import agree, clean_line, plain_points

CellValue = str | float | int


class EntryState(StrEnum):
    """The kinds of entries; only points are a number, and none of the others is a 0."""

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
    unreadable : tuple of str
        Ids of the columns whose hand-in can't be read and counts for nothing.
    """

    state: EntryState
    points: float | None = None
    scaled_from: tuple[float, float] | None = None
    unreadable: tuple[str, ...] = ()


def entry_of(row: StudentRow, target: TargetColumn, *, scaled: bool = True) -> GradebookEntry:
    """Return what a student has under a heading.

    A sum isn't known while a part of it is ungraded. Excused (and, in a sum, dropped) parts are left out.

    Parameters
    ----------
    row : StudentRow
    target : TargetColumn
    scaled : bool
        Whether the heading has full points in a learning system: where fewer count for this student, the
        rest is scaled up to them. Otherwise the sum is the one that pages show.
    """
    if target.is_percent:
        if row.percent is not None:
            return GradebookEntry(EntryState.POINTS, row.percent)
        return GradebookEntry(EntryState.UNGRADED if row.is_waiting else EntryState.MISSING)
    cells = {column: row.cells.get(column.id) for column in target.columns}
    parts = {c: cell for c, cell in cells.items() if cell is None or not (cell.mark and cell.mark.excused)}
    if not parts and cells:
        return GradebookEntry(EntryState.EXCUSED)
    # A dropped mark is left out of sums; alone under its heading it is the student's mark.
    parts = {c: cell for c, cell in parts.items() if cell is None or not cell.is_left_out} or parts
    present = {column: cell for column, cell in parts.items() if cell is not None}
    if any(cell.is_waiting for cell in present.values()):
        return GradebookEntry(EntryState.UNGRADED)
    counted = [cell.counted for cell in present.values() if cell.counted is not None]
    unreadable = tuple(
        column.id
        for column, cell in present.items()
        if cell.outcome is Outcome.FORMAT_ERROR and cell.counted is None
    )
    if not counted:
        return GradebookEntry(
            EntryState.UNREADABLE if unreadable else EntryState.MISSING, unreadable=unreadable
        )
    points = round(math.fsum(counted), 6)
    full = sum(column.max_score for column in parts)
    if not scaled or not 0 < full < target.maximum:
        return GradebookEntry(EntryState.POINTS, points, unreadable=unreadable)
    # In fractions, so that two of three parts scaled back give exactly the points that were earned.
    whole = float(round(Fraction(points) * Fraction(target.maximum) / Fraction(full), 6))
    return GradebookEntry(EntryState.POINTS, whole, (points, full), unreadable)


def entry_value(entry: GradebookEntry) -> CellValue:
    """Return an entry for a table that has numbers: its points, or the word for having none."""
    if entry.points is not None:
        return plain_points(entry.points)
    return "" if entry.state is EntryState.MISSING else str(entry.state)


def graded_value(cell: TableCell | None) -> CellValue:
    """Return a cell as it was graded, whatever the course's rules or a person made of it."""
    if cell is None or cell.outcome is None:
        return ""
    return cell.outcome.word if cell.score is None else plain_points(cell.score)


def comment_of(row: StudentRow, columns: Sequence[TableColumn]) -> str:
    """Return why marks are what they are, and what people wrote about them, in one line."""
    comments = []
    for column in columns:
        mark = cell.mark if (cell := row.cells.get(column.id)) is not None else None
        if mark is not None and mark.reasons:
            # Under a sum the reader must know which part a reason is about.
            head = f"{column.item}: " if len(columns) > 1 else ""
            comments.append(head + "; ".join(clean_line(reason, 2_000) for reason in mark.reasons))
    return ". ".join(comments)


@dataclass(frozen=True, slots=True)
class CellSigns:
    """A format's signs for entries that aren't numbers.

    Parameters
    ----------
    excused : str or None
        None where the format has none.
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
        """Return whether an entry is a mark that can be written: points, or the sign for excused."""
        return entry.points is not None or (entry.state is EntryState.EXCUSED and self.excused is not None)


def entry_cell(entry: GradebookEntry, signs: CellSigns, *, decimal_comma: bool = False) -> str:
    """Return an entry as the cell of a text file."""
    if entry.points is not None:
        return number_cell(entry.points, decimal_comma=decimal_comma)
    if entry.state is EntryState.EXCUSED and signs.excused is not None:
        return signs.excused
    # Excused, where a format has no sign for it, looks like missing work.
    words = {EntryState.UNGRADED: signs.ungraded, EntryState.UNREADABLE: signs.unreadable}
    return words.get(entry.state, signs.missing)


def entry_notices(
    entry: GradebookEntry, student: str, heading: str, *, before: str = ""
) -> list[GradebookNotice]:
    """Return what a person should know of an entry: no mark though there is work, and how a sum came about.

    Parameters
    ----------
    entry : GradebookEntry
    student : str
    heading : str
    before : str
        The cell of the learning system's file that is written over.
    """
    head = clean_line(heading, 80)
    replaced = f" ({clean_line(before, 40)} was there)" if before else ""
    notices = []
    if entry.state is EntryState.UNGRADED:
        message = f"{head}: not graded yet, no mark is written{replaced}"
        notices.append(GradebookNotice(NoticeKind.UNGRADED, student, message))
    elif entry.state is EntryState.UNREADABLE:
        message = f"{head}: what was handed in can't be read, no mark is written{replaced}"
        notices.append(GradebookNotice(NoticeKind.UNREADABLE, student, message))
    elif entry.unreadable:
        earn = agree(len(entry.unreadable), "earn")
        message = f"{head}: {', '.join(entry.unreadable)} can't be read and {earn} nothing"
        notices.append(GradebookNotice(NoticeKind.UNREADABLE, student, message))
    if entry.scaled_from is not None:
        points, full = (number_cell(value) for value in entry.scaled_from)
        written = "" if entry.points is None else f" and is written as {number_cell(round(entry.points, 2))}"
        message = f"{head}: a part is excused or dropped, so {points} of {full} stands for the whole{written}"
        notices.append(GradebookNotice(NoticeKind.NOTE, student, message))
    return notices


class NewRows:
    """The rows of a new file: makes the cells of one student after another, counts marks, collects notices.

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
        self.notices: list[GradebookNotice] = []

    @property
    def headings(self) -> dict[str, str]:
        """Heading → the ids of the columns under it."""
        return {target.heading: target.ids for target in self._targets}

    def head(self) -> list[str]:
        """Return the headings."""
        heads = [text_cell(target.heading) for target in self._targets]
        return [
            cell for head in heads for cell in ((head, f"{head} (feedback)") if self._feedback else (head,))
        ]

    def cells(self, row: StudentRow) -> list[str]:
        """Return the cells of one student."""
        cells = []
        for target in self._targets:
            entry = entry_of(row, target, scaled=self._scaled)
            self.notices += entry_notices(entry, row.student, target.heading)
            self.marks += self._signs.has(entry)
            cells.append(entry_cell(entry, self._signs, decimal_comma=self._decimal_comma))
            if self._feedback:
                cells.append(text_cell(comment_of(row, target.columns)))
        return cells
