"""Sittings with an end: when each began, when it ends, and when it was handed in.

A quiz with a time limit gets its row when the student begins; any other gets it with the first answer that is
saved, so that whatever was saved is handed in at its end, also at one that is set later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from engine.model import Quiz
from engine.store.database import StorePart
from engine.store.web_tables import timed_sittings

#: When a sitting ends that has no end yet: a deadline may still be set.
NO_END = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TimedSitting:
    """One student's sitting.

    Parameters
    ----------
    quiz_id, student : str
    started : datetime
    ends : datetime
        The end by the rules when this row was last written: more time may have been given since.
    ended : datetime or None
        From when no answer is taken: the student ended it, or its time was over.
    handed : datetime or None
        When what was saved was handed in.
    """

    quiz_id: str
    student: str
    started: datetime
    ends: datetime
    ended: datetime | None = None
    handed: datetime | None = None

    @property
    def ended_early(self) -> bool:
        """Whether the student ended it: no time that is given later opens it again."""
        return self.ended is not None and self.ended < self.ends


class TimedSittings(StorePart):
    """The sittings of one course."""

    def begin(self, quiz: Quiz, started: datetime, ends: datetime) -> TimedSitting:
        """Begin a sitting, and return the stored one: a second window, or a second click, gets the first."""

        def begin(connection: sa.Connection) -> TimedSitting:
            stored = connection.execute(_FIND, quiz_key(quiz)).mappings().first()
            if stored is not None:
                return _sitting(stored)
            # Within the grace of the network it may begin after the quiz has closed.
            sitting = TimedSitting(quiz.id, quiz.student, min(started, ends), ends)
            row = {**quiz_key(quiz), "started": sitting.started, "ends": ends}
            connection.execute(sa.insert(timed_sittings), row)
            return sitting

        return self._database.change(begin)

    def of_quiz(self, quiz: Quiz) -> TimedSitting | None:
        """Return the sitting of a student's quiz; None before it has begun."""
        with self._database.read() as connection:
            row = connection.execute(_FIND, quiz_key(quiz)).mappings().first()
        return None if row is None else _sitting(row)

    def end(self, ends: Iterable[tuple[Quiz, datetime]], at: datetime) -> None:
        """Take no more answers, and note when each sitting was to end; the first end stays."""
        changes = [
            sa.update(timed_sittings)
            .where(*_key(quiz), timed_sittings.c.ended.is_(None))
            .values(ended=at, ends=end)
            for quiz, end in ends
        ]
        self._change(changes)

    def note_handed_in(self, quizzes: Iterable[Quiz], at: datetime) -> None:
        """Record that what was saved in sittings that have ended was handed in."""
        ended = timed_sittings.c.ended.is_not(None)
        self._change([sa.update(timed_sittings).where(*_key(q), ended).values(handed=at) for q in quizzes])

    def _change(self, changes: Sequence[sa.Update]) -> None:
        def change_all(connection: sa.Connection) -> None:
            for change in changes:
                connection.execute(change)

        if changes:
            self._database.change(change_all)

    def reopen(self, quiz: Quiz, ends: datetime) -> None:
        """Let a sitting that ended by itself go on until `ends`: its student was given more time."""
        # Another window of the student may just have ended it for good.
        ended = timed_sittings.c.ended >= timed_sittings.c.ends
        change = sa.update(timed_sittings).where(*_key(quiz), ended)
        change = change.values(ended=None, handed=None, ends=ends)
        self._database.change(lambda connection: connection.execute(change))

    def running(self, student: str) -> Sequence[TimedSitting]:
        """Return a student's sittings that nobody has ended; the time of some may be over."""
        query = sa.select(timed_sittings).where(
            timed_sittings.c.student == student, timed_sittings.c.ended.is_(None)
        )
        with self._database.read() as connection:
            return [_sitting(row) for row in connection.execute(query).mappings()]

    def not_handed_in(self) -> Sequence[TimedSitting]:
        """Return the sittings whose answers weren't handed in at an end, by when they were to end."""
        query = (
            sa.select(timed_sittings)
            .where(timed_sittings.c.handed.is_(None))
            .order_by(timed_sittings.c.ends, timed_sittings.c.quiz_id, timed_sittings.c.student)
        )
        with self._database.read() as connection:
            return [_sitting(row) for row in connection.execute(query).mappings()]


def _key(quiz: Quiz) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return timed_sittings.c.quiz_id == quiz.id, timed_sittings.c.student == quiz.student


def quiz_key(quiz: Quiz) -> dict[str, str]:
    """Return what says whose quiz a row is about, by column."""
    return {"quiz_id": quiz.id, "student": quiz.student}


# Built once: it is asked at every save.
_FIND = sa.select(timed_sittings).where(
    timed_sittings.c.quiz_id == sa.bindparam("quiz_id"), timed_sittings.c.student == sa.bindparam("student")
)


def _sitting(row: sa.RowMapping) -> TimedSitting:
    names = ("quiz_id", "student", "started", "ends", "ended", "handed")
    return TimedSitting(**{name: row[name] for name in names})
