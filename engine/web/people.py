"""Who may do what: students are those of ``roster.csv``, staff those of ``staff.csv``."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from engine.course import Roster

STAFF_FILE = "staff.csv"


class Role(StrEnum):
    """What a person may do in this course; each role may do what those before it may."""

    STUDENT = "student"
    MARKER = "marker"
    INSTRUCTOR = "instructor"

    def includes(self, other: Role) -> bool:
        """Return whether this role may do what `other` may."""
        roles = list(Role)
        return roles.index(self) >= roles.index(other)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who can be signed in."""

    id: str
    name: str
    email: str
    role: Role

    @property
    def is_staff(self) -> bool:
        """Whether this person is a marker or an instructor."""
        return self.role is not Role.STUDENT


@dataclass(frozen=True)
class People:
    """Everybody whom the course knows, by id."""

    by_id: Mapping[str, Person]

    def with_email(self, email: str) -> list[Person]:
        """Return those with this address; case doesn't matter."""
        wanted_address = email.strip().casefold()
        return [p for p in self.by_id.values() if p.email and p.email.casefold() == wanted_address]


def people_of(folder: Path, roster: Roster) -> People:
    """Return the people of a course; whoever is staff and student too is staff."""
    people = {s.id: Person(s.id, s.name, s.email, Role.STUDENT) for s in roster.students}
    path = folder / STAFF_FILE
    if path.exists():
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.DictReader(file):
                role = Role(row["role"].strip())
                people[row["id"]] = Person(row["id"], row["name"], row["email"], role)
    return People(people)
