"""Hand-ins to which rules about late work can't be applied, for nobody tells when they came.

Such work counts as in time. That is right towards the student, and the instructor should know of it: where a
download has no times, a due date in the course's rules does nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from engine.course import FileKind, HandedFile, Intake
from engine.course.policies import Policies, terms_of
from engine.plurals import counted
from engine.store import Store

__all__ = ["Untimed", "untimed"]

# The one layout that says of every file whether it is late; without the word it is in time.
_MARKS_LATE = "canvas"


@dataclass(frozen=True, slots=True)
class Untimed:
    """How many hand-ins of each assignment can't be late, though its rules could make them so.

    ``without_time``: nothing is known; ``marked_late``: the learning system only says that they are late, and
    the course doesn't say as how late that counts.
    """

    without_time: Mapping[str, int]
    marked_late: Mapping[str, int]

    def sentences(self) -> list[tuple[str, str]]:
        """Return what to say, and what can be done."""
        said = (
            (
                self.without_time,
                "don't tell when they came",
                "doesn't tell when it came",
                "see in the learning system who was late, and set those marks by hand: grade mark set",
            ),
            (
                self.marked_late,
                "are marked as late, and not by how much",
                "is marked as late, and not by how much",
                "count them as late by `marked_late: {days: 1}` under `policies` in course.yaml",
            ),
        )
        found = []
        for numbers, many, one, step in said:
            if numbers:
                count = sum(numbers.values())
                names = sorted(numbers)
                which = f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
                message = (
                    f"{counted(count, 'hand-in')} {one if count == 1 else many}; the rules about late work "
                )
                message += f"for {which} weren't applied to {'it' if count == 1 else 'them'}"
                found.append((message, step))
        return found


def untimed(
    intake: Intake,
    store: Store,
    policies: Policies,
    *,
    unread: Collection[tuple[str | None, str]],
    now: datetime,
) -> Untimed:
    """Return the hand-ins of a collection that rules about late work can't reach.

    Parameters
    ----------
    intake : Intake
    store : Store
        Has the quizzes that files answer.
    policies : Policies
    unread : collection of (student, file)
        What wasn't graded: it has no mark to take anything off.
    now : datetime
        Nothing is late before it is due.
    """
    without_time: dict[str, int] = {}
    marked_late: dict[str, int] = {}
    for files in intake.students:
        for file in files.files:
            if file.handed is not None or (files.student, file.name) in unread:
                continue
            by_system = intake.layout == _MARKS_LATE and file.filled is None
            if by_system and not file.marked_late:
                continue
            if file.marked_late and policies.marked_late is not None:
                continue
            name = _assignment(file, store)
            if name is not None and _can_be_late(policies, files.student, name, now):
                numbers = marked_late if file.marked_late else without_time
                numbers[name] = numbers.get(name, 0) + 1
    return Untimed(without_time, marked_late)


def _assignment(file: HandedFile, store: Store) -> str | None:
    """Return the code exercise, or the quiz by its name."""
    if file.kind is FileKind.CODE:
        return file.item
    ids = [known.removeprefix("quiz ") for known in file.known_as if known.startswith("quiz ")]
    quiz = store.load_quiz(ids[-1]) if ids else None
    return None if quiz is None else quiz.name


def _can_be_late(policies: Policies, student: str, assignment: str, now: datetime) -> bool:
    terms = terms_of(policies, student, assignment)
    if terms.is_excused:
        return False
    costs = terms.rules.late is not None and terms.is_due(now)
    return costs or (terms.closes is not None and terms.closes <= now)
