"""Put marks into a learning system's own file; every cell that isn't ours stays as it is.

The file is read as it stands (:func:`read_sheet`), its rows are matched to our students (:func:`join_rows`),
and some cells are changed (:func:`fill_sheet`); :func:`fill_targets` does the last two. A mark that goes to
the wrong person is worse than one that a person has to write: whole cells are compared, and everything in a
row that identifies the student must agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.course import Roster, Student
from engine.course.roster import common_ids, describe_conflict, suggest_student
from engine.course.students import name_key, person_name, plain_label, without_zeros
from engine.errors import Diagnostic, IntakeError, UsageError
from engine.marks.class_table import ClassTable, StudentRow
from engine.marks.gradebooks.cells import (
    CellSigns,
    EntryState,
    GradebookEntry,
    comment_of,
    entry_cell,
    entry_notices,
    entry_of,
)
from engine.marks.gradebooks.columns import TargetColumn
from engine.marks.gradebooks.formats import GradebookFile, GradebookNotice, GradebookRequest, NoticeKind
from engine.text.tables import csv_bytes, kept_cell, number_cell, read_delimited, text_cell
from engine.text.words import clean_line, count_noun

# Possessive, so that a long cell of digits is read once.
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
    """A learning system's own file of grades.

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
        Whether it begins with a byte order mark.
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
        """Return how many cells are written differently, so that no spreadsheet runs them as formulas."""
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
        It can't be read, isn't a table, or a row doesn't fit its header: with every fault's line. Such a file
        isn't filled at all, because rows would be lost.
    """
    table = read_delimited(path, noun="the gradebook", error=UsageError)
    faults = list(table.faults)
    if not table.rows:
        raise UsageError("the gradebook is empty", where=table.file, expected="a file with a header")
    first, *others = table.rows
    width = len(first.cells)
    rows = []
    for row in others:
        # A cell too many shifts the row: its marks would go under the wrong headings.
        if any(row.raw[width:]):
            message = f"{count_noun(len(row.cells), 'field')}, but the header has {width}"
            faults.append(Diagnostic(table.file, row.line, 1, message, row.source))
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
        # One number with a point is enough: there the comma of "1,234" may separate thousands.
        decimal_comma=any(map(_COMMA.fullmatch, numbers)) and not any(map(_POINT.fullmatch, numbers)),
    )


def _fit(cells: Sequence[str], width: int) -> tuple[str, ...]:
    return (*cells[:width], *[""] * (width - len(cells)))


@dataclass(frozen=True)
class JoinedRows:
    """Each row with its student, our students without a row, and notices about rows that are nobody's."""

    rows: Sequence[tuple[SheetRow, StudentRow]]
    absent: Sequence[StudentRow]
    notices: Sequence[GradebookNotice]


def everybody(table: ClassTable, roster: Roster) -> Roster:
    """Return the roster, and whoever has marks without being in it."""
    # They have marks too: a row of the learning system may well be theirs.
    others = [Student(row.student, row.name) for row in table.rows if row.student not in roster.by_id]
    return Roster((*roster.students, *others), roster.faults)


def join_rows(
    sheet: LmsSheet, rows: Sequence[SheetRow], columns: Mapping[str, int], table: ClassTable, roster: Roster
) -> JoinedRows:
    """Match the rows to students.

    Parameters
    ----------
    sheet : LmsSheet
    rows : sequence of SheetRow
        Those about people.
    columns : mapping of str to int
        Field of a person → its column: see :func:`engine.course.students.person_columns`.
    table : ClassTable
    roster : Roster
    """
    people = _PeopleIndex(everybody(table, roster))
    ours = {row.student: row for row in table.rows}
    notices: list[GradebookNotice] = []
    rows_of: dict[str, list[SheetRow]] = {}
    for row in rows:
        fields = {field: row.cells[column] for field, column in columns.items() if row.cells[column]}
        place = f"{sheet.file}:{row.line}"
        try:
            student, by_name = people.find(fields)
        except IntakeError as error:
            notices.append(GradebookNotice(NoticeKind.UNKNOWN, place, _why_unknown(fields, error)))
            continue
        if by_name:
            message = f"matched to {clean_line(student, 60)} by the name alone"
            notices.append(GradebookNotice(NoticeKind.BY_NAME, place, message))
        rows_of.setdefault(student, []).append(row)
    joined = []
    for student, mine in rows_of.items():
        if len(mine) > 1:
            lines = " and ".join(str(row.line) for row in mine)
            message = f"lines {lines} are both this student: none is filled"
            notices.append(GradebookNotice(NoticeKind.UNKNOWN, f"{sheet.file}:{mine[1].line}", message))
        # A student without any mark has a row and nothing to write.
        elif student in ours:
            joined.append((mine[0], ours[student]))
    return JoinedRows(joined, [row for row in table.rows if row.student not in rows_of], notices)


def _why_unknown(fields: Mapping[str, str], error: IntakeError) -> str:
    name = person_name(fields) or next(iter(fields.values()), "")
    step = f": {error.next_step}" if error.next_step else ""
    return f"{clean_line(name, 60)}: {error.what}{step}" if name else error.what


_IDS = ("id", "login", "lms_id", "email")


class _PeopleIndex:
    """Finds people by whole cells; a part of a name is never enough for a mark."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        # Only a roster with such numbers can tell a number from an id.
        self._knows_numbers = any(student.lms_id for student in roster.students)
        self._exact: dict[str, set[str]] = {}
        self._names: dict[str, set[str]] = {}
        self._numbers: dict[str, set[str]] = {}
        for student in roster.students:
            # By any of them: systems export whichever they call the id.
            for text in {student.id, student.login, student.lms_id, student.email} - {""}:
                self._exact.setdefault(plain_label(text), set()).add(student.id)
            if key := name_key(student.name):
                self._names.setdefault(key, set()).add(student.id)
            if number := without_zeros(student.id):
                self._numbers.setdefault(number, set()).add(student.id)

    def find(self, fields: Mapping[str, str]) -> tuple[str, bool]:
        """Return the id of the student whom a row names, and whether only the name says so.

        Raises
        ------
        IntakeError
            Nobody, several, or somebody who is unclear in the roster.
        """
        ids = {field: fields[field] for field in _IDS if field in fields}
        if "id" in ids and not self._knows_numbers:
            # The system's own number isn't known here, and could equal somebody's id.
            ids.pop("lms_id", None)
        name = person_name(fields)
        self._refuse_disputes(ids, name)
        candidates = {field: people for field, text in ids.items() if (people := self._by_id(text))}
        by_name = self._names.get(name_key(name), set())
        if candidates.keys() == {"lms_id"} and name and not by_name & candidates["lms_id"]:
            student = self._roster.by_id[min(candidates["lms_id"])]
            if student.name:
                number = clean_line(ids["lms_id"], 40)
                raise IntakeError(f"the number {number} is {clean_line(student.name, 60)}'s, the name isn't")
        if by_name:
            candidates["name"] = by_name
        return self._only(candidates, [*ids.values(), name]), candidates.keys() == {"name"}

    def _refuse_disputes(self, ids: Mapping[str, str], name: str) -> None:
        if ids.get("id") in self._roster.by_id:
            return
        for text in (*ids.values(), name):
            if text and (dispute := self._roster.dispute(text)) is not None:
                raise IntakeError(dispute)

    def _by_id(self, text: str) -> set[str]:
        return self._exact.get(plain_label(text)) or self._numbers.get(without_zeros(text)) or set()

    def _only(self, candidates: Mapping[str, set[str]], texts: Iterable[str]) -> str:
        if not candidates:
            text = next((text for text in texts if text), "")
            near = suggest_student(text, self._roster, otherwise="")
            raise IntakeError(f"{clean_line(text, 60)} isn't in the roster", next_step=near or None)
        ids = common_ids(candidates)
        if len(ids) == 1:
            return ids[0]
        if ids:
            raise IntakeError(f"this can be {' or '.join(ids)}")
        raise IntakeError(f"this row names more than one student: {describe_conflict(candidates)}")


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
    """Return where a target's marks go, with a notice if the file has other full points there.

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
    # A cell holds four decimals: a smaller difference can't be seen there.
    if abs(points - target.maximum) < 1e-4 or not target.maximum:
        return TargetPlace(target, column), []
    if scale:
        return TargetPlace(target, column, points / target.maximum), []
    full = count_noun(number_cell(points), "full point")
    message = f"{full} in the file, {number_cell(target.maximum)} here: marks are written unscaled (--scale)"
    return TargetPlace(target, column), [GradebookNotice(NoticeKind.UNTOUCHED, heading, message)]


# Target, its column, and whether that is new → where its marks go, with notices.
PlaceTarget = Callable[[TargetColumn, int, bool], tuple[TargetPlace, list[GradebookNotice]]]


def fill_targets(
    sheet: LmsSheet,
    headed: Iterable[tuple[TargetColumn, int | None]],
    place_target: PlaceTarget,
    people: Sequence[SheetRow],
    columns: Mapping[str, int],
    request: GradebookRequest,
    signs: CellSigns,
) -> GradebookFile:
    """Return a gradebook with our marks in it, in new columns where it has none for them.

    Parameters
    ----------
    sheet : LmsSheet
    headed : iterable of (TargetColumn, int or None)
        Targets with their columns: see :func:`engine.marks.gradebooks.columns.where_headed`.
    place_target : callable
        What the learning system has to say about each of them.
    people : sequence of SheetRow
        The rows about people.
    columns : mapping of str to int
        Field of a person → its column.
    request : GradebookRequest
    signs : CellSigns
    """
    places = []
    notices: list[GradebookNotice] = []
    for target, known in headed:
        column = sheet.add_column(text_cell(target.heading)) if known is None else known
        place, about_target = place_target(target, column, known is None)
        places.append(place)
        notices += about_target
    return fill_sheet(
        sheet, join_rows(sheet, people, columns, request.table, request.roster), places, signs, notices
    )


def fill_sheet(
    sheet: LmsSheet,
    joined: JoinedRows,
    places: Sequence[TargetPlace],
    signs: CellSigns,
    notices: Sequence[GradebookNotice] = (),
) -> GradebookFile:
    """Return the file with our marks in it; `notices` come before those of the rows.

    Where there is a mark, it is written. Ungraded and unreadable work is written as no mark, with a notice.
    Where nothing was handed in, the cell stays as it is, with a notice if something stands there.
    """
    notices = [*notices, *joined.notices]
    for ours in joined.absent:
        if any(entry_of(ours, place.target).state is not EntryState.MISSING for place in places):
            notices.append(
                GradebookNotice(NoticeKind.ABSENT, ours.student, "has marks and no row in the file")
            )
    marks = 0
    # Row by row, so that notices come in the order of the file.
    for row, ours in joined.rows:
        for place in places:
            marks += _fill(sheet, row, ours, place, signs, notices)
    if changed := sheet.changed():
        message = f"cells that began like a formula and have an apostrophe before them now: {changed}"
        notices.append(GradebookNotice(NoticeKind.NOTE, sheet.file, message))
    headings = {sheet.header[place.column]: place.target.ids for place in places}
    return GradebookFile(sheet.content(), headings, marks, tuple(notices))


def _fill(
    sheet: LmsSheet,
    row: SheetRow,
    ours: StudentRow,
    place: TargetPlace,
    signs: CellSigns,
    notices: list[GradebookNotice],
) -> bool:
    """Fill one cell, and the comment beside it; return whether a mark was written."""
    entry = entry_of(ours, place.target)
    heading = clean_line(sheet.header[place.column], 80)
    before = row.cells[place.column]
    notices += entry_notices(entry, ours.student, heading, before=before)
    is_mark = signs.has(entry)
    if before in signs.locked:
        if is_mark:
            message = f"{heading}: {signs.locked[before]}; our mark isn't written"
            notices.append(GradebookNotice(NoticeKind.UNTOUCHED, ours.student, message))
        return False
    # An old mark must not outlive a hand-in that is ungraded or unreadable now, so these overwrite it too.
    if is_mark or entry.state in (EntryState.UNGRADED, EntryState.UNREADABLE):
        scaled = entry if entry.points is None else replace(entry, points=entry.points * place.factor)
        row.raw[place.column] = entry_cell(scaled, signs, decimal_comma=sheet.decimal_comma)
    elif message := _why_untouched(entry, heading, before, signs):
        notices.append(GradebookNotice(NoticeKind.UNTOUCHED, ours.student, message))
    if place.comments is not None and (comment := comment_of(ours, place.target.columns)):
        row.raw[place.comments] = text_cell(comment)
    return is_mark


def _why_untouched(entry: GradebookEntry, heading: str, before: str, signs: CellSigns) -> str:
    """Return the notice about a cell that stays as it is; empty where it is blank and should be."""
    if entry.state is EntryState.EXCUSED:
        return f"{heading}: excused here; say so in the learning system yourself"
    if before in ("", signs.missing):
        return ""
    return f"{heading}: nothing was handed in, and {clean_line(before, 40)} stays in the file"
