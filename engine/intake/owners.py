"""Whose a hand-in is: what a download calls people → the roster's students. Nobody is guessed."""

from __future__ import annotations

from collections.abc import Iterable

from engine.course import IntakeProblem, Roster
from engine.course.joining import agreed, contradiction, meant, nearest
from engine.errors import IntakeError
from engine.foreign import clean_line
from engine.intake.layouts import Person

__all__ = ["Owners"]

_LONGEST_ID = 100


class Owners:
    """Joins people with a roster; without one everybody is who the download says.

    Parameters
    ----------
    people : iterable of Person
        Everybody of the download, so that two who would be taken for one are noticed.
    roster : Roster
    refuse_unlisted : bool
        Whether people who aren't in the roster are refused.
    """

    def __init__(self, people: Iterable[Person], roster: Roster, refuse_unlisted: bool) -> None:
        self._roster = roster
        self._refuse_unlisted = refuse_unlisted
        self._students: dict[tuple[str, str], str | None] = {}
        self.problems: list[IntakeProblem] = []
        self.labels: dict[str, str] = {}
        self._keys: dict[str, set[str]] = {}
        everybody = list({(person.label, person.key): person for person in people}.values())
        for person in everybody:
            for student in self._ids(person) if person.key else ():
                self._keys.setdefault(student, set()).add(person.key)
        for person in everybody:
            self.student(person)

    def student(self, person: Person) -> str | None:
        """Return the id of a person, None if nobody can say it; a problem is listed once."""
        at = (person.label, person.key)
        if at in self._students:
            return self._students[at]
        try:
            student = self._join(person) or self._unlisted(person)
        except IntakeError as error:
            self._students[at] = None
            self._tell(person, error.what, error.next_step or "")
            return None
        self._students[at] = student
        self.labels.setdefault(student, clean_line(person.label))
        return student

    def _ids(self, person: Person) -> list[str]:
        try:
            return agreed(meant(person.who, self._roster))
        except IntakeError:  # told when the person is joined
            return []

    def _join(self, person: Person) -> str | None:
        """Return whom of the roster a person is, None for nobody of it."""
        found = meant(person.who, self._roster)
        ids = agreed(found)
        if len(ids) > 1:
            raise _unjoined(f"this can be {' or '.join(ids)}", "name the folder after the student's id")
        if found and not ids:
            raise _unjoined(f"this means several people: {contradiction(found)}", "see whose it is")
        if ids and set(found) == {"name"} and len(self._keys.get(ids[0], ())) > 1:
            message = f"several people of this name handed in, and one is in the roster: {ids[0]}"
            raise _unjoined(message, "see whose it is, and name the folder after the id")
        return ids[0] if ids else None

    def _unlisted(self, person: Person) -> str:
        """Return what stands for a person whom the roster doesn't have."""
        label = person.label.strip()
        shown = clean_line(label)
        if not shown or len(label) > _LONGEST_ID or label in self._roster.by_id:
            raise _unjoined("this name can't be a student's id", "rename it")
        if self._roster.students:
            step = nearest(label, self._roster, otherwise="add the student, or rename the folder")
            if self._refuse_unlisted:
                raise _unjoined("this student isn't in the roster", step)
            self._tell(person, f"this student isn't in the roster; graded as {shown}", step)
        return label

    def _tell(self, person: Person, message: str, step: str) -> None:
        where = clean_line(person.label) or "(no name)"
        self.problems.append(IntakeProblem(where, message, step, unjoined=True))


def _unjoined(message: str, step: str) -> IntakeError:
    return IntakeError(message, next_step=step)
