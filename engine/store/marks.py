"""Marks that people set, and marks that a regrade replaced: both only ever add rows.

A mark by hand overrides what was graded and survives regrades; a regrade keeps the old report beside the new
one. So it can always be said what a mark was, who changed it, when and why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from engine.crash_points import reached
from engine.model import GradeReport, Mode, Quiz, Variant
from engine.store.attempt import Attempt, attempt_row, same_attempt
from engine.store.database import StorePart, rows_by_student
from engine.store.sql_tables import (
    attempts,
    decode,
    encode,
    hand_marks,
    quiz_retries,
    quizzes,
    regrades,
    storable,
)


@dataclass(frozen=True, slots=True)
class HandMark:
    """One decision about one student's mark in one column.

    Parameters
    ----------
    student : str
    column : str
        Of the gradebook: ``quiz/item`` or a code item's id.
    score : float or None
        The points that count; None leaves the graded ones.
    excused : bool
        Whether the column is left out for this student.
    comment : str
        For the student to read; may be empty.
    by : str
        Who decided.
    at : datetime
        With time zone.
    """

    student: str
    column: str
    score: float | None
    excused: bool
    comment: str
    by: str
    at: datetime


# Key of the advisory lock under which a server's decisions are added: what was counted still holds then.
_DECISION_LOCK = 0x50F73A23


def _count(connection: sa.Connection, mark: HandMark) -> int:
    """Return how many decisions there are about the student and column of one."""
    same = (hand_marks.c.student == mark.student) & (hand_marks.c.column == mark.column)
    return connection.execute(sa.select(sa.func.count()).select_from(hand_marks).where(same)).scalar_one()


class HandMarks(StorePart):
    """Marks by hand; decisions are only ever added, and the newest about a student and column holds."""

    def add(self, mark: HandMark, *, after: int | None = None) -> bool:
        """Store a decision, and return whether it is stored.

        One without score, excuse and comment withdraws the earlier ones. With `after`, nothing is stored
        unless there are exactly that many about this student and column: then somebody else has decided
        since they were read.
        """
        return self.add_all([mark], after=after)

    def add_all(self, marks: Sequence[HandMark], *, after: int | None = None) -> bool:
        """Store several decisions in one transaction: all of them or none; `after` as in :meth:`add`."""
        rows = [
            {
                "student": mark.student,
                "column": mark.column,
                "score": mark.score,
                "excused": mark.excused,
                "comment": storable(mark.comment),
                "by": storable(mark.by, 200),
                "at": mark.at,
            }
            for mark in marks
        ]
        with self._database.write() as connection:
            if self._database.is_server:  # SQLite lets one writer in at a time anyway
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_DECISION_LOCK)))
            if after is not None and any(_count(connection, mark) != after for mark in marks):
                return False
            for row in rows:
                connection.execute(sa.insert(hand_marks), row)
                reached("in-hand-mark")
        return True

    def history(self, *, student: str | None = None, column: str | None = None) -> list[HandMark]:
        """Return all decisions that fit, oldest first."""
        query = sa.select(hand_marks).order_by(hand_marks.c.id)
        if student is not None:
            query = query.where(hand_marks.c.student == student)
        if column is not None:
            query = query.where(hand_marks.c.column == column)
        with self._database.read() as connection:
            rows = connection.execute(query).mappings().all()
        return [HandMark(**{name: value for name, value in row.items() if name != "id"}) for row in rows]

    def current(self) -> Mapping[tuple[str, str], HandMark]:
        """Return the decisions that hold now, by (student, column), without withdrawn ones."""
        # Oldest first, so the last one for a key is the newest.
        newest = {(mark.student, mark.column): mark for mark in self.history()}
        return {
            place: mark
            for place, mark in newest.items()
            if mark.score is not None or mark.excused or mark.comment
        }


@dataclass(frozen=True, slots=True)
class StoredRegrade:
    """One attempt's change by a regrade.

    Parameters
    ----------
    run : str
        Id that all changes of one run share.
    student, submission : str
    mode : Mode
    by : str
        Who started it.
    at : datetime
    cause : str
        Why, in that person's words.
    old, new : GradeReport
        Item versions, outcomes and marks are read from them.
    old_variant : Variant or None
        With the keys that held before.
    """

    run: str
    student: str
    submission: str
    mode: Mode
    by: str
    at: datetime
    cause: str
    old: GradeReport
    new: GradeReport
    old_variant: Variant | None = None


class RegradeHistory(StorePart):
    """The marks that were changed by grading again."""

    def replace(
        self,
        changes: Sequence[tuple[Attempt, Attempt]],
        *,
        run: str,
        by: str,
        at: datetime,
        cause: str,
        rekeyed: Sequence[tuple[Quiz, Quiz, Sequence[tuple[int, int, Variant]]]] = (),
    ) -> list[Attempt]:
        """Put new reports in the place of old ones, in one transaction.

        Parameters
        ----------
        changes : sequence of (Attempt, Attempt)
            As stored, and as it is to be.
        run, by, at, cause
            As in :class:`StoredRegrade`.
        rekeyed : sequence of (Quiz, Quiz, sequence of (int, int, Variant))
            Handed-out quizzes, as stored and with the corrected keys, and their variants for later attempts
            by question number and retry. A quiz whose rules changed meanwhile keeps the new rules.

        Returns
        -------
        list of Attempt
            The old ones that stay as they are because somebody changed or erased them meanwhile.
        """
        # Everybody locks rows in the same order: two runs on a server may wait, and never for each other.
        ordered = sorted(
            changes, key=lambda change: (change[0].student, change[0].item, change[0].submission)
        )
        quizzes_first = sorted(rekeyed, key=lambda change: (change[0].id, change[0].student))
        common = {"run": run, "by": storable(by, 200), "at": at, "cause": storable(cause)}

        def put(connection: sa.Connection) -> list[Attempt]:
            for before, after, retries in quizzes_first:
                _rekey(connection, before, after, retries, self._database.where)
            return [old for old, new in ordered if not _replaced(connection, old, new, common)]

        return self._database.change(put)

    def items(self, cause: str) -> list[str]:
        """Return the items of which attempts were changed for this cause, in order."""
        query = sa.select(regrades.c.item).where(regrades.c.cause == cause).distinct()
        with self._database.read() as connection:
            return sorted(connection.execute(query).scalars())

    def history(
        self, *, student: str | None = None, item: str | None = None, run: str | None = None
    ) -> Iterator[StoredRegrade]:
        """Yield the changes that fit, oldest first.

        Parameters
        ----------
        student, item : str, optional
        run : str, optional
            Id of one regrade.
        """
        query = sa.select(regrades).order_by(regrades.c.id)
        for name, value in {"student": student, "item": item, "run": run}.items():
            if value is not None:
                query = query.where(regrades.c[name] == value)
        with self._database.read() as connection:
            rows = connection.execute(query).mappings().all()
        for row in rows:
            yield _stored_regrade(row, self._database.where)

    def by_student(self, students: Sequence[str]) -> Iterator[list[StoredRegrade]]:
        """Yield the changes of each of these students in turn, oldest first, all read at once."""
        query = sa.select(regrades).where(regrades.c.student.in_(students)).order_by(regrades.c.id)
        for rows in rows_by_student(self._database, query, students):
            yield [_stored_regrade(row, self._database.where) for row in rows]


def _stored_regrade(row: sa.RowMapping, where: str) -> StoredRegrade:
    variant = row["old_variant"]
    return StoredRegrade(
        run=row["run"],
        student=row["student"],
        submission=row["submission"],
        mode=Mode(row["mode"]),
        by=row["by"],
        at=row["at"],
        cause=row["cause"],
        old=decode(GradeReport, row["old_report"], where),
        new=decode(GradeReport, row["new_report"], where),
        old_variant=None if variant is None else decode(Variant, variant, where),
    )


def _rekey(
    connection: sa.Connection,
    before: Quiz,
    after: Quiz,
    retries: Sequence[tuple[int, int, Variant]],
    where: str,
) -> None:
    same = (quizzes.c.id == before.id) & (quizzes.c.student == before.student)
    stored = connection.execute(sa.select(quizzes.c.quiz).where(same).with_for_update()).scalar()
    if stored is None:  # erased meanwhile
        return
    rules = decode(Quiz, stored, where).rules
    connection.execute(sa.update(quizzes).where(same).values(quiz=encode(replace(after, rules=rules))))
    for number, retry, variant in retries:
        place = sa.and_(
            quiz_retries.c.quiz_id == before.id,
            quiz_retries.c.student == before.student,
            quiz_retries.c.number == number,
            quiz_retries.c.retry == retry,
        )
        connection.execute(sa.update(quiz_retries).where(place).values(variant=encode(variant)))


def _replaced(connection: sa.Connection, old: Attempt, new: Attempt, common: Mapping[str, Any]) -> bool:
    """Replace one report, and return whether the old one was still there."""
    query = sa.select(attempts.c.report).where(same_attempt(old)).with_for_update()
    # The plan was made before: somebody may have graded or erased it since.
    if connection.execute(query).scalar() != encode(old.report):
        return False
    row = attempt_row(new)
    connection.execute(sa.update(attempts).where(same_attempt(old)), row)
    both = {
        "old_report": encode(old.report),
        "old_variant": None if old.variant is None else encode(old.variant),
        "new_report": row["report"],
    }
    key = {name: row[name] for name in ("student", "item", "submission", "mode")}
    connection.execute(sa.insert(regrades), {**key, **common, **both})
    reached("in-regrade")
    return True
