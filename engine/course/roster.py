"""The rows of a roster → students, and every row that can't be one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.course.delimited import Delimited, Row
from engine.course.labels import Student
from engine.course.person_columns import person_columns, person_name, plain_head
from engine.errors import Diagnostic
from engine.plurals import counted

__all__ = ["RosterFault", "students_of"]

_ROUNDED = re.compile(r"[0-9][.,][0-9]+E\+[0-9]{2,}")
_PLAIN_HEAD = {"id": 0, "name": 1, "email": 2}
# Canvas and Moodle put these among the students.
_NOBODY = {"points possible", "student, test", "test student", "overall average"}
_UNIQUE = {"login": "login", "lms_id": "number of the learning system"}


@dataclass(frozen=True, slots=True)
class RosterFault:
    """A fault, and the people whose hand-ins can't be told from one another's because of it."""

    diagnostic: Diagnostic
    people: tuple[Student, ...] = ()


def students_of(table: Delimited) -> tuple[tuple[Student, ...], tuple[RosterFault, ...]]:
    """Return the students whose rows are in good order, and the faults by line."""
    faults = [RosterFault(diagnostic) for diagnostic in table.faults]
    rows = table.rows
    if not rows:
        return (), tuple(faults)
    head = rows[0]
    columns = person_columns(head.cells)
    problem = _header_fault(head.cells, columns, rows[1:])
    if problem:
        faults.append(RosterFault(Diagnostic(table.file, head.line, 1, problem, head.source)))
        if not _without_header(rows, columns):
            return (), tuple(faults)
        columns = {field: at for field, at in _PLAIN_HEAD.items() if at < len(head.cells)}
        width, body = max(len(columns), len(head.cells)), rows
    else:
        width, body = len(head.cells), rows[1:]
        if "login" in columns and not any(_cell(row, columns.get("id")) for row in body):
            columns["id"] = columns["login"]
    reading = _Reading(table.file, columns, width)
    for row in body:
        reading.take(row)
    faults += reading.faults
    return reading.students(), tuple(sorted(faults, key=lambda fault: fault.diagnostic.line))


def _cell(row: Row, at: int | None) -> str:
    return row.cells[at] if at is not None and at < len(row.cells) else ""


def _header_fault(header: Sequence[str], columns: Mapping[str, int], body: Iterable[Row]) -> str | None:
    if "id" not in columns and "login" not in columns:
        return "the first line must name the columns, `id` among them: id,name,email"
    heads = [plain_head(cell) for cell in header]
    doubled = sorted({heads[at] for at in columns.values() if heads.count(heads[at]) > 1})
    return f"column {doubled[0]!r} stands twice" if doubled else None


def _without_header(rows: Sequence[Row], columns: Mapping[str, int]) -> bool:
    """Return whether the rows can only be ids, names and addresses without a line that names them."""
    numbered = [any(c.isdigit() for c in row.cells[0]) for row in rows]
    if columns or (all(numbered[1:]) and not numbered[0]):
        return False
    return all(
        len(row.cells) <= 3
        and row.cells[0]
        and not re.search(r"[\s@]", row.cells[0])
        and all("@" in cell or not cell for cell in row.cells[2:])
        for row in rows
    )


class _Reading:
    def __init__(self, file: str, columns: Mapping[str, int], width: int) -> None:
        self._file = file
        self._columns = columns
        self._width = width
        self._kept: dict[str, Student] = {}
        self._lines: dict[str, int] = {}
        self._doubled: set[str] = set()
        self._taken: dict[tuple[str, str], int] = {}
        self.faults: list[RosterFault] = []

    def students(self) -> tuple[Student, ...]:
        return tuple(student for student in self._kept.values() if student.id not in self._doubled)

    def take(self, row: Row) -> None:
        fields = {field: _cell(row, at) for field, at in self._columns.items()}
        student = Student(
            fields.get("id", ""),
            person_name(fields),
            fields.get("email", ""),
            fields.get("login", ""),
            fields.get("section", ""),
            fields.get("lms_id", ""),
        )
        if student == Student("") or (not student.id and student.name.casefold() in _NOBODY):
            return
        if problem := self._row_fault(row, student):
            self._fault(row, problem, () if len(row.cells) > self._width else (student,))
        elif student.id in self._kept:
            self._double(row, student)
        else:
            self._kept[student.id] = student
            self._lines[student.id] = row.line
            self._check_unique(row, student)

    def _row_fault(self, row: Row, student: Student) -> str | None:
        if len(row.cells) > self._width and any(row.cells[self._width :]):
            return (
                f"{counted(len(row.cells), 'field')}, but the header has {self._width}: "
                "put a name with a comma in quotes"
            )
        return _id_fault(student.id)

    def _double(self, row: Row, student: Student) -> None:
        """Note that an id stands twice: nobody's, unless both rows are about the same person."""
        first = self._kept[student.id]
        people: tuple[Student, ...] = ()
        if replace(first, section="") != replace(student, section=""):
            self._doubled.add(student.id)
            people = (first, student)
        self._fault(row, f"id {student.id!r} is in line {self._lines[student.id]} already", people)

    def _check_unique(self, row: Row, student: Student) -> None:
        for field, name in _UNIQUE.items():
            value = getattr(student, field).casefold()
            if not value:
                continue
            line = self._taken.setdefault((field, value), row.line)
            if line != row.line:
                self._fault(row, f"{name} {getattr(student, field)!r} is in line {line} already")

    def _fault(self, row: Row, message: str, people: tuple[Student, ...] = ()) -> None:
        self.faults.append(RosterFault(Diagnostic(self._file, row.line, 1, message, row.source), people))


def _id_fault(student: str) -> str | None:
    if not student:
        return "this student has no id"
    if _ROUNDED.fullmatch(student):
        return f"a spreadsheet has rounded this id to {student}: format the column as text and save it again"
    if len(student) > 100:
        return "this id is longer than 100 characters"
    if any(unicodedata.category(c).startswith("C") for c in student):
        return "this id holds a control or invisible character"
    return None
