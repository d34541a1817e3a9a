"""Whose a row of a learning system's file is, and which of our students have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.course import ClassTable, Roster, Student, StudentRow
from engine.course.joining import student_of
from engine.course.person_columns import person_name
from engine.errors import IntakeError
from engine.foreign import clean_line
from engine.gradebooks.gradebook import Kind, Listed
from engine.gradebooks.sheet import Sheet, SheetRow

__all__ = ["Joined", "everybody", "join_rows"]

_SURE = ("id", "login", "lms_id", "email")


@dataclass(frozen=True)
class Joined:
    """Each row with its student, and who is nobody's."""

    rows: Sequence[tuple[SheetRow, StudentRow]]
    listed: Sequence[Listed]


def everybody(table: ClassTable, roster: Roster) -> Roster:
    """Return the roster, and whoever has marks without being in it."""
    others = [Student(row.student, row.name) for row in table.rows if row.student not in roster.by_id]
    return Roster((*roster.students, *others), roster.faults)


def join_rows(
    sheet: Sheet, rows: Sequence[SheetRow], columns: Mapping[str, int], table: ClassTable, roster: Roster
) -> Joined:
    """Find whose rows these are; everything in a row that tells the student must agree.

    Parameters
    ----------
    sheet : Sheet
    rows : sequence of SheetRow
        Those about people.
    columns : mapping of str to int
        Field of a person → its column: see :func:`engine.course.person_columns.person_columns`.
    table : ClassTable
    roster : Roster
    """
    people = everybody(table, roster)
    if "id" in columns and not any(student.lms_id for student in people.students):
        # The system's own numbers aren't known here: one could equal somebody's id.
        columns = {field: place for field, place in columns.items() if field != "lms_id"}
    ours = {row.student: row for row in table.rows}
    listed: list[Listed] = []
    found: dict[str, list[SheetRow]] = {}
    for row in rows:
        who = {field: row.cells[place] for field, place in columns.items() if row.cells[place]}
        place = f"{sheet.file}:{row.line}"
        try:
            student = student_of(who, people, refuse_unlisted=True)
            sure = _surety(who, people.by_id[student], people)
        except IntakeError as error:
            listed.append(Listed(Kind.UNKNOWN, place, _told(who, error)))
            continue
        if not sure:
            told = f"taken for {clean_line(student, 60)} by name only"
            listed.append(Listed(Kind.NOTE, place, told))
        found.setdefault(student, []).append(row)
    joined = []
    for student, mine in found.items():
        if len(mine) > 1:
            lines = " and ".join(str(row.line) for row in mine)
            told = f"lines {lines} are both this student: none is filled"
            listed.append(Listed(Kind.UNKNOWN, f"{sheet.file}:{mine[1].line}", told))
        elif student in ours:
            joined.append((mine[0], ours[student]))
    listed += [
        Listed(Kind.ABSENT, row.student, "has marks and no row in the file")
        for row in table.rows
        if row.student not in found and row.cells
    ]
    return Joined(joined, listed)


def _told(who: Mapping[str, str], error: IntakeError) -> str:
    name = who.get("name") or next(iter(who.values()), "")
    step = f": {error.next_step}" if error.next_step and error.next_step.startswith("did you mean") else ""
    return f"{clean_line(name, 60)}: {error.what}{step}" if name else error.what


def _surety(who: Mapping[str, str], student: Student, people: Roster) -> bool:
    """Tell whether more than a name says that a row is a student's.

    The system's own number can equal somebody's id by chance: alone it isn't believed against the name.
    """
    fields = {f for f in _SURE if f in who and student.id in people.match_cell(who[f])}
    name = person_name(who)
    if fields == {"lms_id"} and name and student.name and student.id not in people.match(name):
        told = f"the number {clean_line(who['lms_id'], 40)} is {clean_line(student.name, 60)}'s"
        raise IntakeError(f"{told}, the name isn't")
    return bool(fields)
