"""Whose a row of a learning system's file is, and which of our students have none.

A mark that goes to the wrong person is worse than one that a person has to write: whole cells are compared,
and everything in a row that tells the student must agree.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.course import ClassTable, Roster, Student, StudentRow
from engine.course.joining import agreed, contradiction, nearest
from engine.course.labels import name_key
from engine.course.person_columns import person_name
from engine.errors import IntakeError
from engine.foreign import clean_line
from engine.gradebooks.gradebook import Kind, Listed
from engine.gradebooks.sheet import Sheet, SheetRow

__all__ = ["Joined", "everybody", "join_rows"]

_IDS = ("id", "login", "lms_id", "email")


@dataclass(frozen=True)
class Joined:
    """Each row with its student, those of ours who have no row, and the rows that are nobody's."""

    rows: Sequence[tuple[SheetRow, StudentRow]]
    absent: Sequence[StudentRow]
    listed: Sequence[Listed]


def everybody(table: ClassTable, roster: Roster) -> Roster:
    """Return the roster, and whoever has marks without being in it."""
    others = [Student(row.student, row.name) for row in table.rows if row.student not in roster.by_id]
    return Roster((*roster.students, *others), roster.faults)


def join_rows(
    sheet: Sheet, rows: Sequence[SheetRow], columns: Mapping[str, int], table: ClassTable, roster: Roster
) -> Joined:
    """Find whose rows these are.

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
    people = _People(everybody(table, roster))
    ours = {row.student: row for row in table.rows}
    listed: list[Listed] = []
    found: dict[str, list[SheetRow]] = {}
    for row in rows:
        who = {field: row.cells[place] for field, place in columns.items() if row.cells[place]}
        place = f"{sheet.file}:{row.line}"
        try:
            student, by_name = people.find(who)
        except IntakeError as error:
            listed.append(Listed(Kind.UNKNOWN, place, _told(who, error)))
            continue
        if by_name:
            told = f"taken for {clean_line(student, 60)}: nothing else in the row says so"
            listed.append(Listed(Kind.BY_NAME, place, told))
        found.setdefault(student, []).append(row)
    joined = []
    for student, mine in found.items():
        if len(mine) > 1:
            lines = " and ".join(str(row.line) for row in mine)
            told = f"lines {lines} are both this student: none is filled"
            listed.append(Listed(Kind.UNKNOWN, f"{sheet.file}:{mine[1].line}", told))
        elif student in ours:
            joined.append((mine[0], ours[student]))
    return Joined(joined, [row for row in table.rows if row.student not in found], listed)


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
