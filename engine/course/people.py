"""Who may do what in a course: students are those of ``roster.csv``, staff those of ``staff.csv``.

``staff.csv`` has the columns ``id``, ``name``, ``email`` and ``role``, and is read like a roster. Its faults
stop it from being used at all: a row that is left out could take an instructor's rights, and one that is
guessed could give them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from engine.course.roster import Roster, id_fault
from engine.course.students import name_key, person_columns, person_name, plain_head
from engine.errors import CourseError, Diagnostic
from engine.text.tables import DelimitedTable, TableRow, read_delimited
from engine.text.words import clean_line

STAFF_FILE = "staff.csv"
# No lists, no names beside it: what a mail program reads as two addresses would get somebody else a link.
_ADDRESS = re.compile(r'[^\s@<>()\[\],;:"\\]+@[^\s@<>()\[\],;:"\\]+')


class Role(StrEnum):
    """What a person may do in a course; each role may do what those before it may."""

    STUDENT = "student"
    MARKER = "marker"
    INSTRUCTOR = "instructor"

    def includes(self, other: Role) -> bool:
        """Return whether this role may do what `other` may."""
        roles = list(Role)
        return roles.index(self) >= roles.index(other)


_STAFF_ROLES = (Role.MARKER, Role.INSTRUCTOR)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who can be signed in."""

    id: str
    name: str
    email: str
    role: Role
    login: str = ""

    @property
    def is_staff(self) -> bool:
        """Whether this person is a marker or an instructor."""
        return self.role is not Role.STUDENT


def _folded(text: str) -> str:
    # ASCII alone is folded: other letters have look-alikes (the Kelvin sign is a k), and an address that
    # only looks alike belongs to somebody else.
    return text.strip().lower() if text.isascii() else text.strip()


@dataclass(frozen=True)
class People:
    """Everybody whom the course knows, by id."""

    by_id: Mapping[str, Person]

    @cached_property
    def _by_field(self) -> Mapping[tuple[str, str], tuple[Person, ...]]:
        index: dict[tuple[str, str], tuple[Person, ...]] = {}
        for person in self.by_id.values():
            for field in ("email", "login"):
                if text := _folded(getattr(person, field)):
                    index[field, text] = (*index.get((field, text), ()), person)
        return index

    def with_email(self, email: str) -> tuple[Person, ...]:
        """Return those with this address; the case of ASCII letters doesn't matter."""
        return self._by_field.get(("email", _folded(email)), ())

    def with_login(self, login: str) -> tuple[Person, ...]:
        """Return those with this account name, compared as addresses are."""
        return self._by_field.get(("login", _folded(login)), ())

    @property
    def instructors(self) -> tuple[Person, ...]:
        """Those who run the course, in the order of the file."""
        return tuple(person for person in self.by_id.values() if person.role is Role.INSTRUCTOR)


def people_of(roster: Roster, staff: Iterable[Person]) -> People:
    """Return the people of a course; whoever is in both files has the role of the staff.

    Raises
    ------
    CourseError
        An id is one person's in one file and another's in the other.
    """
    people = {s.id: Person(s.id, s.name, s.email, Role.STUDENT, s.login) for s in roster.students}
    for person in staff:
        student = people.get(person.id)
        if student is not None and not _may_be_one(student, person):
            raise CourseError(
                f"the id {person.id!r} belongs to another person in the roster",
                where=STAFF_FILE,
                expected=f"an id of its own for {clean_line(person.name, 60) or person.email}",
                got=f"{clean_line(student.name, 60) or student.email} has it in roster.csv",
                next_step="give one of them another id: otherwise one could see the other's work",
            )
        people[person.id] = person
    return People(people)


def _may_be_one(student: Person, member: Person) -> bool:
    if _folded(student.email) == _folded(member.email) and member.email:
        return True
    return not (student.name and member.name) or name_key(student.name) == name_key(member.name)


def read_staff(path: Path) -> tuple[Person, ...]:
    """Return the staff of a course; nobody where there is no file.

    Raises
    ------
    CourseError
        The file can't be read; or with every fault's line: a column that is missing, an id that is missing
        or there twice, a role that there isn't, too many fields.
    """
    if not path.exists():
        return ()
    table = read_delimited(path, noun="the staff file", error=CourseError)
    people, faults = _staff_of(table)
    if faults:
        raise CourseError.of_file(faults)
    return people


def _staff_of(table: DelimitedTable) -> tuple[tuple[Person, ...], list[Diagnostic]]:
    faults = list(table.faults)
    if not table.rows:
        return (), faults
    head, *body = table.rows
    columns = person_columns(head.cells)
    heads = [plain_head(cell) for cell in head.cells]
    missing = [name for name in ("id", "role") if (name not in columns and name not in heads)]
    if missing:
        message = (
            f"the first line must name the columns id,name,email,role: {' and '.join(missing)} is missing"
        )
        return (), [*faults, Diagnostic(table.file, head.line, 1, message, head.source)]
    columns["role"] = heads.index("role")
    people: dict[str, Person] = {}
    lines: dict[str, int] = {}
    for row in body:
        fields = {n: row.cells[c] if c < len(row.cells) else "" for n, c in columns.items()}
        if not any(fields.values()):
            continue
        fault = _row_fault(row, len(head.cells), fields, lines)
        if fault:
            faults.append(Diagnostic(table.file, row.line, 1, fault, row.source))
            continue
        person = fields["id"]
        lines[person] = row.line
        role = Role(plain_head(fields["role"]))
        people[person] = Person(
            person, person_name(fields), fields.get("email", ""), role, fields.get("login", "")
        )
    return tuple(people.values()), sorted(faults, key=lambda fault: fault.line)


def is_mail_address(text: str) -> bool:
    """Return whether a mail can be sent to this, and to nobody else."""
    return _ADDRESS.fullmatch(text.strip()) is not None


def address_warnings(path: Path) -> list[Diagnostic]:
    """Return a warning for each row of a roster or staff file whose address takes no mail.

    Raises
    ------
    CourseError
        The file can't be read.
    """
    table = read_delimited(path, noun="the list of people", error=CourseError)
    head, *body = table.rows or (None,)
    column = None if head is None else person_columns(head.cells).get("email")
    if column is None:
        return []
    cells = [(row, row.cells[column]) for row in body if column < len(row.cells)]
    return [
        Diagnostic(
            table.file,
            row.line,
            1,
            f"{clean_line(cell, 60)!r} isn't an email address: this person gets no sign-in links",
            row.source,
        )
        for row, cell in cells
        if cell.strip() and not is_mail_address(cell)
    ]


def _row_fault(row: TableRow, width: int, fields: Mapping[str, str], lines: Mapping[str, int]) -> str | None:
    if any(row.cells[width:]):
        return "more fields than the header has: put a name with a comma in quotes"
    if fault := id_fault(fields["id"], "this person"):
        return fault
    if fields["id"] in lines:
        return f"id {fields['id']!r} is in line {lines[fields['id']]} already"
    if plain_head(fields["role"]) not in _STAFF_ROLES:
        roles = " or ".join(_STAFF_ROLES)
        return f"the role must be {roles}, not {clean_line(fields['role'], 40) or 'empty'!r}"
    return None
