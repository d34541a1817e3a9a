"""Writes what a regrade found: new marks with their history, and the keys of quizzes that are out."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from engine.regrade.changes import RegradePlan
from engine.store import Attempt, Store

__all__ = ["apply_plan"]


def apply_plan(store: Store, plan: RegradePlan, *, by: str, cause: str) -> tuple[str, list[Attempt]]:
    """Write a plan, in one transaction.

    Parameters
    ----------
    store : Store
    plan : RegradePlan
    by : str
        Who regrades.
    cause : str
        Why, for the history.

    Returns
    -------
    (str, list of Attempt)
        Id of the run, and the attempts that changed since they were looked at: they are left alone.

    Raises
    ------
    StoreError
        Nothing was written.
    """
    run = secrets.token_hex(6)
    left = store.regrades.replace(
        [(change.old, change.new) for change in plan.changes],
        run=run,
        by=by,
        at=datetime.now(UTC),
        cause=cause,
        rekeyed=[(quiz.old, quiz.new, quiz.retries) for quiz in plan.rekeyed],
    )
    return run, left
