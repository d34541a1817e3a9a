"""What another list of the class would change in ``roster.csv``, and writing it.

Nobody is taken out unless that is asked for: a list can be too short for many reasons, and whoever has work
here keeps it in any case.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path

from engine.course.roster import Roster, read_roster
from engine.course.students import Student
from engine.errors import CourseError
from engine.text.files import replacing, write_errors

_COLUMNS = tuple(field.name for field in fields(Student))
_ALWAYS = ("id", "name", "email")


@dataclass(frozen=True, slots=True)
class RosterChanges:
    """The differences between a roster and another list.

    Parameters
    ----------
    students : tuple of Student
        The roster with all changes, nobody taken out.
    added : tuple of Student
    changed : tuple of (Student, Student)
        Before and after.
    missing : tuple of Student
        In the roster, but not in the other list.
    """

    students: tuple[Student, ...]
    added: tuple[Student, ...]
    changed: tuple[tuple[Student, Student], ...]
    missing: tuple[Student, ...]

    @property
    def without_missing(self) -> tuple[Student, ...]:
        """The students of the other list only."""
        gone = {student.id for student in self.missing}
        return tuple(student for student in self.students if student.id not in gone)


def changes_by(roster: Roster, others: Iterable[Student]) -> RosterChanges:
    """Return what another list changes; a field that is empty there stays as it is.

    Parameters
    ----------
    roster : Roster
    others : iterable of Student
        By the ids of the roster, or new ones.
    """
    merged: dict[str, Student] = dict(roster.by_id)
    listed_ids = set()
    for other in others:
        listed_ids.add(other.id)
        before = merged.get(other.id)
        new = {name: getattr(other, name) for name in _COLUMNS if getattr(other, name)}
        merged[other.id] = other if before is None else replace(before, **new)
    before_by_id = roster.by_id
    return RosterChanges(
        students=tuple(merged.values()),
        added=tuple(s for s in merged.values() if s.id not in before_by_id),
        changed=tuple((before_by_id[s.id], s) for s in merged.values() if s != before_by_id.get(s.id, s)),
        missing=tuple(s for s in roster.students if s.id not in listed_ids),
    )


def changed_fields(before: Student, after: Student) -> Mapping[str, tuple[str, str]]:
    """Return the fields that differ, with both values."""
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in _COLUMNS}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def roster_digest(path: Path) -> str:
    """Return a digest of a roster's file; whoever shows changes first knows by it whether they still hold."""
    return hashlib.sha256(path.read_bytes() if path.exists() else b"").hexdigest()


def write_roster(
    path: Path,
    students: Iterable[Student],
    *,
    old: Path,
    now: datetime,
    note: Callable[[bytes], None] = lambda data: None,
) -> Path | None:
    """Replace a roster in one step, and return where the old one is kept.

    Parameters
    ----------
    path : Path
        ``roster.csv``.
    students : iterable of Student
    old : Path
        Folder in which the file before it is kept; made if need be.
    now : datetime
        Names the old file.
    note : callable
        Gets the new file's bytes when they are on the disk and the old ones are still in place.

    Raises
    ------
    CourseError
        The roster has faulty rows, which would be lost, the new one couldn't be read back, or the disk
        refuses it. The roster is as it was.
    """
    students = list(students)
    if path.exists():
        read_roster(path)  # raises with every faulty line
    step = "free some space, or check that you may write to this folder"
    with write_errors("the roster can't be written", path, next_step=step, kind=CourseError):
        kept_at = _keep(path, old, now)
        with replacing(path, durable=True) as file:
            data = roster_text(students).encode("utf-8")
            file.write(data)
            file.flush()
            back = read_roster(Path(file.name))
            if list(back.students) != students:
                raise CourseError("the new roster can't be read back as it was written", where=str(path))
            note(data)
    return kept_at


def _keep(path: Path, old: Path, now: datetime) -> Path | None:
    if not path.exists():
        return None
    old.mkdir(mode=0o700, parents=True, exist_ok=True)
    copy = old / f"roster-{now:%Y%m%dT%H%M%S%f}.csv"
    with replacing(copy, durable=True, private=True) as file:
        file.write(path.read_bytes())
    return copy


def roster_text(students: Iterable[Student]) -> str:
    """Return students as ``roster.csv`` has them: with the columns that somebody has a value in."""
    rows = list(students)
    columns = [name for name in _COLUMNS if name in _ALWAYS or any(getattr(s, name) for s in rows)]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([getattr(student, name) for name in columns] for student in rows)
    return text.getvalue()
