"""The attempts that came before one, whatever else is going on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from engine.model import Mode
from engine.store.attempt import Attempt
from engine.store.tables import attempts, quizzes

__all__ = ["earlier_rows", "newest_start", "not_before"]


def earlier_rows(connection: sa.Connection, attempt: Attempt) -> Sequence[sa.RowMapping]:
    """Return the rows of a student's submissions so far for the same item of the same quiz, oldest first.

    For marks, quizzes of one name are one quiz, drawn several times; in practice each stands alone.
    Attempts without a quiz have no earlier ones.
    """
    if attempt.quiz is None:
        return ()
    own = (quizzes.c.id == attempt.quiz) & (quizzes.c.student == attempt.student)
    name = connection.execute(sa.select(quizzes.c.name).where(own)).scalar()
    # On a server the rows of all draws are the lock, always in one order; SQLite lets one writer in anyway.
    alike = (quizzes.c.name == name) & (quizzes.c.student == attempt.student)
    connection.execute(sa.select(quizzes.c.id).where(alike).order_by(quizzes.c.id).with_for_update())
    query = (
        sa.select(attempts)
        .join(quizzes, (quizzes.c.id == attempts.c.quiz_id) & (quizzes.c.student == attempts.c.student))
        .where(
            attempts.c.student == attempt.student,
            attempts.c.item == attempt.item,
            attempts.c.mode == str(attempt.report.mode),
            quizzes.c.name == name,
            *([quizzes.c.id == attempt.quiz] if attempt.report.mode is Mode.PRACTICE else []),
        )
        .order_by(attempts.c.id)
    )
    return connection.execute(query).mappings().all()


def newest_start(connection: sa.Connection, attempt: Attempt) -> datetime | None:
    """Return when the student's newest attempt at the item so far was started; None if there is none."""
    query = sa.select(sa.func.max(attempts.c.started)).where(
        attempts.c.student == attempt.student,
        attempts.c.item == attempt.item,
        attempts.c.mode == str(attempt.report.mode),
    )
    found: datetime | None = connection.execute(query).scalar()
    return found


def not_before(attempt: Attempt, earlier: datetime | None) -> Attempt:
    """Return `attempt`, started no sooner than `earlier`.

    What came later stays later, even if the machine's clock was set back in between.
    """
    if earlier is None or attempt.started >= earlier:
        return attempt
    return replace(attempt, started=earlier, finished=max(attempt.finished, earlier))
