"""``roster.csv``: who is in the course. Ids are text: ``007`` keeps its zeros.

A faulty row doesn't stop a class from being graded: its people are left out, and hand-ins that may be theirs
are refused with the row's fault (:meth:`Roster.dispute`), so that no mark goes to the wrong person.

Rows and downloads name students by several fields: :func:`candidate_ids` finds whom each field means,
:func:`student_of` the one student whom all of them mean.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from engine.course.students import LabelIndex, Student, person_columns, person_name, plain_head
from engine.errors import CourseError, Diagnostic, IntakeError
from engine.hand_ins import IntakeProblem
from engine.text.tables import DelimitedTable, TableRow, read_delimited
from engine.text.words import clean_line, count_noun, near_words

# 1.23457E+15: a spreadsheet has rounded a long number, and the digits are lost.
_ROUNDED = re.compile(r"[0-9][.,][0-9]+E\+[0-9]{2,}")
_PLAIN_HEAD = {"id": 0, "name": 1, "email": 2}
# Canvas and Moodle put these among the students.
_NOBODY = {"points possible", "student, test", "test student", "overall average"}
_UNIQUE = {"login": "login", "lms_id": "number of the learning system"}


@dataclass(frozen=True, slots=True)
class RosterFault:
    """A fault, and the people whose hand-ins can't be told apart because of it."""

    diagnostic: Diagnostic
    people: tuple[Student, ...] = ()


def students_of(table: DelimitedTable) -> tuple[tuple[Student, ...], tuple[RosterFault, ...]]:
    """Return the students with valid rows, and the faults by line."""
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
        columns = {field: column for field, column in _PLAIN_HEAD.items() if column < len(head.cells)}
        width, body = max(len(columns), len(head.cells)), rows
    else:
        width, body = len(head.cells), rows[1:]
        # Some systems export the account's name alone: it then serves as the id.
        if "login" in columns and not any(_cell(row, columns.get("id")) for row in body):
            columns["id"] = columns["login"]
    reader = _RosterReader(table.file, columns, width)
    for row in body:
        reader.add(row)
    faults += reader.faults
    return reader.students(), tuple(sorted(faults, key=lambda fault: fault.diagnostic.line))


def _cell(row: TableRow, column: int | None) -> str:
    return row.cells[column] if column is not None and column < len(row.cells) else ""


def _header_fault(header: Sequence[str], columns: Mapping[str, int], body: Iterable[TableRow]) -> str | None:
    if "id" not in columns and "login" not in columns:
        return "the first line must name the columns, `id` among them: id,name,email"
    heads = [plain_head(cell) for cell in header]
    repeated = sorted({heads[column] for column in columns.values() if heads.count(heads[column]) > 1})
    return f"column {repeated[0]!r} appears twice" if repeated else None


def _without_header(rows: Sequence[TableRow], columns: Mapping[str, int]) -> bool:
    """Return whether the rows can only be ids, names and addresses, without a line that names the columns."""
    # A first line without a digit above ids that all have one is a header in words that we don't know.
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


class _RosterReader:
    def __init__(self, file: str, columns: Mapping[str, int], width: int) -> None:
        self._file = file
        self._columns = columns
        self._width = width
        self._students: dict[str, Student] = {}
        self._lines: dict[str, int] = {}
        self._ambiguous: set[str] = set()
        self._first_lines: dict[tuple[str, str], int] = {}
        self.faults: list[RosterFault] = []

    def students(self) -> tuple[Student, ...]:
        return tuple(student for student in self._students.values() if student.id not in self._ambiguous)

    def add(self, row: TableRow) -> None:
        fields = {field: _cell(row, column) for field, column in self._columns.items()}
        student = Student(
            fields.get("id", ""),
            person_name(fields),
            fields.get("email", ""),
            fields.get("login", ""),
            fields.get("section", ""),
            fields.get("lms_id", ""),
        )
        # Blank rows and the extra rows of learning systems are nobody, and no fault.
        if student == Student("") or (not student.id and student.name.casefold() in _NOBODY):
            return
        if problem := self._row_fault(row, student):
            self._fault(row, problem, () if len(row.cells) > self._width else (student,))
        elif student.id in self._students:
            self._repeat(row, student)
        else:
            self._students[student.id] = student
            self._lines[student.id] = row.line
            self._check_unique(row, student)

    def _row_fault(self, row: TableRow, student: Student) -> str | None:
        # Blank cells behind the last column are common in exports, and no fault.
        if len(row.cells) > self._width and any(row.cells[self._width :]):
            return (
                f"{count_noun(len(row.cells), 'field')}, but the header has {self._width}: "
                "put a name with a comma in quotes"
            )
        return id_fault(student.id, "this student")

    def _repeat(self, row: TableRow, student: Student) -> None:
        first = self._students[student.id]
        people: tuple[Student, ...] = ()
        # An export by section lists a person once for each: the same id, and no doubt whose it is.
        if replace(first, section="") != replace(student, section=""):
            self._ambiguous.add(student.id)
            people = (first, student)
        self._fault(row, f"id {student.id!r} is in line {self._lines[student.id]} already", people)

    def _check_unique(self, row: TableRow, student: Student) -> None:
        # A login shared by two rows is reported, but each row still has an id of its own.
        for field, name in _UNIQUE.items():
            value = getattr(student, field).casefold()
            if not value:
                continue
            line = self._first_lines.setdefault((field, value), row.line)
            if line != row.line:
                self._fault(row, f"{name} {getattr(student, field)!r} is in line {line} already")

    def _fault(self, row: TableRow, message: str, people: tuple[Student, ...] = ()) -> None:
        self.faults.append(RosterFault(Diagnostic(self._file, row.line, 1, message, row.source), people))


def id_fault(person: str, noun: str) -> str | None:
    """Return why this can't be the id of a person whom `noun` names; None where it can."""
    if not person:
        return f"{noun} has no id"
    if _ROUNDED.fullmatch(person):
        return f"a spreadsheet has rounded this id to {person}: format the column as text and save it again"
    if len(person) > 100:  # half of what the store takes; no learning system has longer ones
        return "this id is longer than 100 characters"
    if any(unicodedata.category(c).startswith("C") for c in person):
        return "this id holds a control or invisible character"
    return None


@dataclass(frozen=True)
class Roster:
    """The students, in the order of the file, and the faulty rows, whose people aren't among the students."""

    students: tuple[Student, ...] = ()
    faults: tuple[RosterFault, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, Student]:
        """Students by id."""
        return {student.id: student for student in self.students}

    @cached_property
    def by_lms_id(self) -> Mapping[str, str]:
        """Ids by the learning system's number, where that is known."""
        return {student.lms_id: student.id for student in self.students if student.lms_id}

    @cached_property
    def _labels(self) -> LabelIndex:
        return LabelIndex((student.id, student) for student in self.students)

    @cached_property
    def _disputed(self) -> tuple[LabelIndex, Mapping[str, RosterFault]]:
        places = {f"{i}.{n}": (f, p) for i, f in enumerate(self.faults) for n, p in enumerate(f.people)}
        labels = LabelIndex((key, person) for key, (_, person) in places.items())
        return labels, {key: fault for key, (fault, _) in places.items()}

    def match(self, label: str) -> tuple[str, ...]:
        """Return the ids that the name of a folder or file can mean: see :meth:`LabelIndex.find`."""
        return self._labels.find(label)

    def match_cell(self, cell: str) -> tuple[str, ...]:
        """Return the ids that a cell of a spreadsheet can mean, which may have lost its zeros."""
        # As written first: 007 and 7 may be two students.
        return self._labels.find(cell) or self._labels.find_number(cell)

    def dispute(self, label: str) -> str | None:
        """Return why a label is unclear: it fits a faulty row of the roster; None where it doesn't."""
        if label in self.by_id or not self.faults:
            return None
        labels, faults = self._disputed
        keys = labels.find(label)
        if not keys:
            return None
        fault = faults[keys[0]].diagnostic
        return f"this is unclear in the roster: {fault.file}:{fault.line}: {fault.message}"

    def problems(self) -> list[IntakeProblem]:
        """Return the faults as problems of a collection that is graded nevertheless."""
        step = "fix the roster, then grade again: what is graded is kept"
        faults = [fault.diagnostic for fault in self.faults]
        return [IntakeProblem(f"{fault.file}:{fault.line}", fault.message, step) for fault in faults]


def read_roster(path: Path, *, tolerant: bool = False) -> Roster:
    """Read a roster.

    UTF-8 and UTF-16 (with or without BOM) and, failing that, Windows-1252 are understood; columns are
    separated by commas, semicolons or tabs, and ``id`` must be among them. The heads that Canvas, Moodle
    and Gradescope write are known (``SIS User ID``, ``ID number``, ``SID`` …). Ids are text: ``007`` keeps
    its zeros, and so does ``="007"``, which spreadsheets write to that end.

    Parameters
    ----------
    path : Path
    tolerant : bool
        Return the faults with the roster, instead of raising them.

    Raises
    ------
    CourseError
        The file can't be read. Unless tolerant, with every fault's line: no id column, an empty or repeated
        id, too many fields, an id that a spreadsheet has rounded.
    """
    table = read_delimited(path, noun="the roster", error=CourseError)
    students, faults = students_of(table)
    if faults and not tolerant:
        raise CourseError.of_file([fault.diagnostic for fault in faults])
    return Roster(students, faults)


Candidates = Mapping[str, set[str]]
_FIELDS = ("id", "login", "lms_id", "email", "name")


def student_of(row: Mapping[str, str], roster: Roster, *, refuse_unlisted: bool) -> str:
    """Return the id of the student whom a row names.

    Parameters
    ----------
    row : mapping of str to str
        Field → text, none of them blank.
    roster : Roster
        Without students in it the row's own id is taken as it is.
    refuse_unlisted : bool
        Whether people who aren't in the roster are refused.

    Raises
    ------
    IntakeError
        Nobody is named, that row of the roster is at fault, several people fit, fields contradict each
        other, or this person isn't in the roster and is refused.
    """
    fields = {field: row[field] for field in _FIELDS if field in row}
    if name := person_name(row):
        fields["name"] = name
    if not fields:
        raise IntakeError("nothing in this row says whose it is", next_step="fill in the student's id")
    candidates = candidate_ids(fields, roster, roster.match_cell)
    if not candidates:
        text = next(iter(fields.values()))
        if roster.students and refuse_unlisted:
            raise IntakeError(
                f"{clean_line(text, 60)} isn't in the roster", next_step=suggest_student(text, roster)
            )
        return text
    ids = common_ids(candidates)
    if len(ids) == 1:
        return ids[0]
    if ids:
        raise IntakeError(f"this can be {' or '.join(ids)}", next_step="fill in the student's id")
    raise IntakeError(
        f"this row names more than one student: {describe_conflict(candidates)}",
        next_step="find out whose answers these are",
    )


def candidate_ids(
    fields: Mapping[str, str], roster: Roster, match: Callable[[str], Sequence[str]] | None = None
) -> Candidates:
    """Return the candidate ids for each field; fields that match nobody are left out.

    Parameters
    ----------
    fields : mapping of str to str
        ``id``, ``login``, ``lms_id``, ``email``, ``name`` or another field → text.
    roster : Roster
    match : callable, optional
        Finds people by any field but the name; `roster.match` by default.

    Raises
    ------
    IntakeError
        A text fits a row of the roster that is at fault, and the row's id isn't a valid one.
    """
    has_valid_id = fields.get("id", "") in roster.by_id
    candidates: dict[str, set[str]] = {}
    for field, text in fields.items():
        dispute = None if has_valid_id else roster.dispute(text)
        if dispute is not None:
            raise IntakeError(dispute, next_step="fix the roster, then grade again")
        if field == "lms_id" and roster.by_lms_id:  # somebody else's id can be the same number
            ids = {roster.by_lms_id[text]} if text in roster.by_lms_id else set()
        else:
            ids = set(roster.match(text) if field == "name" or match is None else match(text))
        if ids:
            candidates[field] = ids
    return candidates


def common_ids(candidates: Candidates) -> list[str]:
    """Return the ids that fit all fields, in order."""
    return sorted(set.intersection(*candidates.values())) if candidates else []


def describe_conflict(candidates: Candidates) -> str:
    """Return which field means whom."""
    return ", ".join(f"{field} means {' or '.join(sorted(ids))}" for field, ids in candidates.items())


def suggest_student(
    text: str, roster: Roster, *, otherwise: str = "add the student to the roster, or fix the row"
) -> str:
    """Return the next step for somebody who isn't in the roster: the student with the nearest id or name."""
    people = {label: s.id for s in roster.students for label in (s.id, s.name) if label}
    near = near_words(text, people)
    return f"did you mean {people[near[0]]}?" if near else otherwise
