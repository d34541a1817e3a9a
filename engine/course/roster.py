"""``roster.csv``: who is in the course. Ids are text: ``007`` keeps its zeros."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from engine.course.collection import IntakeProblem
from engine.course.delimited import read_delimited
from engine.course.labels import Labels, Student
from engine.course.roster_rows import RosterFault, students_of
from engine.errors import CourseError

__all__ = ["Roster", "RosterFault", "Student", "read_roster"]


@dataclass(frozen=True)
class Roster:
    """The students, in the order of the file, and the rows that are at fault.

    Nobody whose row is at fault is among the students.
    """

    students: tuple[Student, ...] = ()
    faults: tuple[RosterFault, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, Student]:
        """Students by id."""
        return {student.id: student for student in self.students}

    @cached_property
    def by_lms_id(self) -> Mapping[str, str]:
        """Ids by the number that the learning system gives, of those for whom it is known."""
        return {student.lms_id: student.id for student in self.students if student.lms_id}

    @cached_property
    def _labels(self) -> Labels:
        return Labels((student.id, student) for student in self.students)

    @cached_property
    def _disputed(self) -> tuple[Labels, Mapping[str, RosterFault]]:
        places = {f"{at}.{n}": (f, p) for at, f in enumerate(self.faults) for n, p in enumerate(f.people)}
        labels = Labels((key, person) for key, (_, person) in places.items())
        return labels, {key: fault for key, (fault, _) in places.items()}

    def match(self, label: str) -> tuple[str, ...]:
        """Return the ids of the students that a folder's or file's name can mean.

        As :meth:`engine.course.labels.Labels.find`. More than one means: it is ambiguous.
        """
        return self._labels.find(label)

    def match_cell(self, cell: str) -> tuple[str, ...]:
        """Return as :meth:`match` what a cell of a spreadsheet can mean, which may have lost its zeros."""
        return self._labels.find(cell) or self._labels.find_number(cell)

    def dispute(self, label: str) -> str | None:
        """Return why nobody can say whose a label is: it fits a row of the roster that is at fault.

        None where the label is an id in good order, or fits no such row.
        """
        if label in self.by_id or not self.faults:
            return None
        labels, faults = self._disputed
        found = labels.find(label)
        if not found:
            return None
        told = faults[found[0]].diagnostic
        return f"this is unclear in the roster: {told.file}:{told.line}: {told.message}"

    def problems(self) -> list[IntakeProblem]:
        """Return the faults as problems of a collection that is graded nevertheless."""
        step = "mend the roster, then grade again: what is graded is kept"
        return [
            IntakeProblem(f"{told.file}:{told.line}", told.message, step)
            for told in (fault.diagnostic for fault in self.faults)
        ]


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
        Give the faults with the roster, and everybody who isn't concerned by them.

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
