"""Putting marks into a learning system's own file; what isn't ours stays as it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.course import Roster, Student
from engine.course.joining import agreed, contradiction, nearest
from engine.course.people import name_key, person_name
from engine.errors import Diagnostic, IntakeError, UsageError
from engine.marks.gradebooks.cells import (
    CellSigns,
    EntryState,
    GradebookEntry,
    comment_of,
    entry_cell,
    entry_of,
    tell_entry,
)
from engine.marks.gradebooks.columns import TargetColumn
from engine.marks.gradebooks.formats import GradebookFile, GradebookNotice, NoticeKind
from engine.marks.results import ClassTable, StudentRow
from engine.text.escape import clean_line
from engine.text.tables import csv_bytes, kept_cell, number_cell, read_delimited, text_cell
from engine.text.words import count_noun

__all__ = [
    "JoinedRows",
    "LmsSheet",
    "SheetRow",
    "TargetPlace",
    "everybody",
    "fill_sheet",
    "join_rows",
    "place_of",
    "read_sheet",
]


# ----------------------------------------------------------------------------------------------------
# A learning system's own file of grades: read as it stands, written with some cells changed.

_COMMA = re.compile(r"[+-]?[0-9]++,[0-9]++")
_POINT = re.compile(r"[+-]?[0-9]++\.[0-9]++")


@dataclass(slots=True)
class SheetRow:
    """One row: its line in the file, its cells as they read, and as they are written."""

    line: int
    cells: tuple[str, ...]
    raw: list[str]


@dataclass(slots=True)
class LmsSheet:
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


def read_sheet(path: Path) -> LmsSheet:
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
            told = f"{count_noun(len(row.cells), 'field')}, but the header has {width}"
            faults.append(Diagnostic(table.file, row.line, 1, told, row.source))
        rows.append(SheetRow(row.line, _fit(row.cells, width), list(_fit(row.raw, width))))
    if faults:
        raise UsageError.of_file(sorted(faults, key=lambda fault: fault.line))
    numbers = [cell for row in rows for cell in row.cells]
    return LmsSheet(
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


# ----------------------------------------------------------------------------------------------------
# Whose a row of a learning system's file is, and which of our students have none.
#
# A mark that goes to the wrong person is worse than one that a person has to write: whole cells are compared,
# and everything in a row that tells the student must agree.

_IDS = ("id", "login", "lms_id", "email")


@dataclass(frozen=True)
class JoinedRows:
    """Each row with its student, those of ours who have no row, and the rows that are nobody's."""

    rows: Sequence[tuple[SheetRow, StudentRow]]
    absent: Sequence[StudentRow]
    listed: Sequence[GradebookNotice]


def everybody(table: ClassTable, roster: Roster) -> Roster:
    """Return the roster, and whoever has marks without being in it."""
    others = [Student(row.student, row.name) for row in table.rows if row.student not in roster.by_id]
    return Roster((*roster.students, *others), roster.faults)


def join_rows(
    sheet: LmsSheet, rows: Sequence[SheetRow], columns: Mapping[str, int], table: ClassTable, roster: Roster
) -> JoinedRows:
    """Find whose rows these are.

    Parameters
    ----------
    sheet : LmsSheet
    rows : sequence of SheetRow
        Those about people.
    columns : mapping of str to int
        Field of a person → its column: see :func:`engine.course.people.person_columns`.
    table : ClassTable
    roster : Roster
    """
    people = _People(everybody(table, roster))
    ours = {row.student: row for row in table.rows}
    listed: list[GradebookNotice] = []
    found: dict[str, list[SheetRow]] = {}
    for row in rows:
        who = {field: row.cells[place] for field, place in columns.items() if row.cells[place]}
        place = f"{sheet.file}:{row.line}"
        try:
            student, by_name = people.find(who)
        except IntakeError as error:
            listed.append(GradebookNotice(NoticeKind.UNKNOWN, place, _told(who, error)))
            continue
        if by_name:
            told = f"taken for {clean_line(student, 60)}: nothing else in the row says so"
            listed.append(GradebookNotice(NoticeKind.BY_NAME, place, told))
        found.setdefault(student, []).append(row)
    joined = []
    for student, mine in found.items():
        if len(mine) > 1:
            lines = " and ".join(str(row.line) for row in mine)
            told = f"lines {lines} are both this student: none is filled"
            listed.append(GradebookNotice(NoticeKind.UNKNOWN, f"{sheet.file}:{mine[1].line}", told))
        elif student in ours:
            joined.append((mine[0], ours[student]))
    return JoinedRows(joined, [row for row in table.rows if row.student not in found], listed)


def _told(who: Mapping[str, str], error: IntakeError) -> str:
    name = person_name(who) or next(iter(who.values()), "")
    step = f": {error.next_step}" if error.next_step else ""
    return f"{clean_line(name, 60)}: {error.what}{step}" if name else error.what


class _People:
    """Finds people by whole cells."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._knows_numbers = any(student.lms_id for student in roster.students)
        self._exact: dict[str, set[str]] = {}
        self._names: dict[str, set[str]] = {}
        self._numbers: dict[str, set[str]] = {}
        for student in roster.students:
            for text in {student.id, student.login, student.lms_id, student.email} - {""}:
                self._exact.setdefault(_plain(text), set()).add(student.id)
            if key := name_key(student.name):
                self._names.setdefault(key, set()).add(student.id)
            if number := _number(student.id):
                self._numbers.setdefault(number, set()).add(student.id)

    def find(self, who: Mapping[str, str]) -> tuple[str, bool]:
        """Return the id of the student whom a row names, and whether only the name says so.

        Raises
        ------
        IntakeError
            Nobody, several, or somebody who is unclear in the roster.
        """
        ids = {field: who[field] for field in _IDS if field in who}
        if "id" in ids and not self._knows_numbers:
            # The system's own number isn't known here, and could equal somebody's id.
            ids.pop("lms_id", None)
        name = person_name(who)
        self._refuse_disputes(ids, name)
        found = {field: people for field, text in ids.items() if (people := self._by_id(text))}
        named = self._names.get(name_key(name), set())
        if found.keys() == {"lms_id"} and name and not named & found["lms_id"]:
            student = self._roster.by_id[min(found["lms_id"])]
            if student.name:
                told = f"the number {clean_line(ids['lms_id'], 40)} is {clean_line(student.name, 60)}'s"
                raise IntakeError(f"{told}, the name isn't")
        if named:
            found["name"] = named
        return self._one(found, [*ids.values(), name]), found.keys() == {"name"}

    def _refuse_disputes(self, ids: Mapping[str, str], name: str) -> None:
        if ids.get("id") in self._roster.by_id:
            return
        for text in (*ids.values(), name):
            if text and (dispute := self._roster.dispute(text)) is not None:
                raise IntakeError(dispute)

    def _by_id(self, text: str) -> set[str]:
        return self._exact.get(_plain(text)) or self._numbers.get(_number(text)) or set()

    def _one(self, found: Mapping[str, set[str]], texts: Iterable[str]) -> str:
        if not found:
            text = next((text for text in texts if text), "")
            near = nearest(text, self._roster, otherwise="")
            raise IntakeError(f"{clean_line(text, 60)} isn't in the roster", next_step=near or None)
        ids = agreed(found)
        if len(ids) == 1:
            return ids[0]
        if ids:
            raise IntakeError(f"this can be {' or '.join(ids)}")
        raise IntakeError(f"this row names more than one student: {contradiction(found)}")


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().casefold()


def _number(text: str) -> str:
    """Return a number without the zeros before it, which spreadsheets drop; nothing for other text."""
    return text.lstrip("0") if text.isascii() and text.isdigit() else ""


@dataclass(frozen=True, slots=True)
class TargetPlace:
    """Where a target's marks go.

    Parameters
    ----------
    target : TargetColumn
    column : int
    factor : float
        What marks are multiplied with.
    comments : int or None
        Column of the comments; None: they aren't written.
    """

    target: TargetColumn
    column: int
    factor: float = 1.0
    comments: int | None = None


def place_of(
    target: TargetColumn, column: int, heading: str, possible: str, *, scale: bool
) -> tuple[TargetPlace, list[GradebookNotice]]:
    """Return where a target's marks go, and what to say of the full points that the file has there.

    Parameters
    ----------
    target : TargetColumn
    column : int
    heading : str
    possible : str
        The file's full points as it writes them; may be no number.
    scale : bool
        Whether marks are scaled to them.
    """
    try:
        points = float(possible.replace(",", "."))
    except ValueError:
        return TargetPlace(target, column), []
    if abs(points - target.maximum) < 1e-4 or not target.maximum:
        return TargetPlace(target, column), []
    if scale:
        return TargetPlace(target, column, points / target.maximum), []
    ours = number_cell(target.maximum)
    told = (
        f"{count_noun(number_cell(points), 'full point')} in the file, {ours} here: marks are "
        "written unscaled (--scale)"
    )
    return TargetPlace(target, column), [GradebookNotice(NoticeKind.LEFT, heading, told)]


def fill_sheet(
    sheet: LmsSheet, joined: JoinedRows, places: Sequence[TargetPlace], signs: CellSigns
) -> GradebookFile:
    """Return the file with our marks in it.

    Where there is a mark, it is written. What is ungraded or can't be read is written as none, and listed.
    Where nothing was handed in, the cell stays as it is, and is listed if something stands there.
    """
    listed = list(joined.listed)
    for ours in joined.absent:
        if any(entry_of(ours, place.target).state is not EntryState.MISSING for place in places):
            listed.append(
                GradebookNotice(NoticeKind.ABSENT, ours.student, "has marks and no row in the file")
            )
    marks = 0
    for row, ours in joined.rows:
        for place in places:
            marks += _fill(sheet, row, ours, place, signs, listed)
    if changed := sheet.changed():
        told = f"cells that began like a formula and have an apostrophe before them now: {changed}"
        listed.append(GradebookNotice(NoticeKind.NOTE, sheet.file, told))
    headings = {sheet.header[place.column]: place.target.ids for place in places}
    return GradebookFile(sheet.content(), headings, marks, tuple(listed))


def _fill(
    sheet: LmsSheet,
    row: SheetRow,
    ours: StudentRow,
    place: TargetPlace,
    signs: CellSigns,
    listed: list[GradebookNotice],
) -> bool:
    """Fill one cell, and the comment beside it; return whether a mark was written."""
    entry = entry_of(ours, place.target)
    heading = clean_line(sheet.header[place.column], 80)
    had = row.cells[place.column]
    listed += tell_entry(entry, ours.student, heading, had=had)
    is_mark = signs.has(entry)
    if had in signs.locked:
        if is_mark:
            told = f"{heading}: {signs.locked[had]}; our mark isn't written"
            listed.append(GradebookNotice(NoticeKind.LEFT, ours.student, told))
        return False
    if is_mark or entry.state in (EntryState.UNGRADED, EntryState.UNREADABLE):
        scaled = entry if entry.points is None else replace(entry, points=entry.points * place.factor)
        row.raw[place.column] = entry_cell(scaled, signs, decimal_comma=sheet.decimal_comma)
    elif told := _left(entry, heading, had, signs):
        listed.append(GradebookNotice(NoticeKind.LEFT, ours.student, told))
    if place.comments is not None and (comment := comment_of(ours, place.target.columns)):
        row.raw[place.comments] = text_cell(comment)
    return is_mark


def _left(entry: GradebookEntry, heading: str, had: str, signs: CellSigns) -> str:
    """Return what to say of a cell that stays as it is; nothing where it is blank and should be."""
    if entry.state is EntryState.EXCUSED:
        return f"{heading}: excused here; say so in the learning system yourself"
    if had in ("", signs.missing):
        return ""
    return f"{heading}: nothing was handed in, and {clean_line(had, 40)} stays in the file"
