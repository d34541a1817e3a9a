"""More time, another deadline or an excuse for single students, given on the site or by a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa

from engine.errors import InputError
from engine.store.database import StorePart
from engine.store.sql_tables import storable
from engine.store.web_tables import allowances


class AllowanceKind(StrEnum):
    """What is given."""

    DEADLINE = "deadline"
    EXCUSE = "excuse"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one student was given.

    Parameters
    ----------
    student : str
    kind : AllowanceKind
    by : str
        Who gave it.
    at : datetime
    assignment : str or None
        A quiz or an exercise; None: all of them.
    due : str or None
        Another due date, as course.yaml writes it: ``2026-11-20`` or ``2026-11-20 18:00``.
    days : int or None
        Or so many days more.
    percent : float or None
        Of a time limit, on top of it.
    reason : str
    id : int
        Of the stored row; 0 before.
    withdrawn : datetime or None
    """

    student: str
    kind: AllowanceKind
    by: str
    at: datetime
    assignment: str | None = None
    due: str | None = None
    days: int | None = None
    percent: float | None = None
    reason: str = ""
    id: int = 0
    withdrawn: datetime | None = None


class AllowanceStore(StorePart):
    """The allowances of one course; rows are only added, and withdrawn."""

    def add(self, allowance: Allowance) -> Allowance:
        """Store an allowance, and return it with its number."""
        return self._database.change(lambda connection: add_allowance(connection, allowance))

    def current(self, student: str | None = None) -> Sequence[Allowance]:
        """Return the allowances that hold, of one student or of all, oldest first."""
        return self._select(student, [allowances.c.withdrawn.is_(None)])

    def history(self, student: str | None = None) -> Sequence[Allowance]:
        """Return all allowances, those withdrawn too, oldest first."""
        return self._select(student, [])

    def withdraw(self, number: int, at: datetime) -> Allowance:
        """Withdraw an allowance, and return it; a second time changes nothing.

        Raises
        ------
        InputError
            There is none of that number.
        """
        same = allowances.c.id == number

        def withdraw(connection: sa.Connection) -> Allowance:
            row = connection.execute(sa.select(allowances).where(same).with_for_update()).mappings().first()
            if row is None:
                raise InputError(f"there is no allowance {number}", next_step="see: grade course allowances")
            if row["withdrawn"] is not None:
                return _allowance(row)
            connection.execute(sa.update(allowances).where(same).values(withdrawn=at))
            return replace(_allowance(row), withdrawn=at)

        return self._database.change(withdraw)

    def _select(self, student: str | None, conditions: list[sa.ColumnElement[bool]]) -> Sequence[Allowance]:
        query = sa.select(allowances).where(*conditions).order_by(allowances.c.id)
        if student is not None:
            query = query.where(allowances.c.student == student)
        with self._database.read() as connection:
            return [_allowance(row) for row in connection.execute(query).mappings()]


def add_allowance(connection: sa.Connection, allowance: Allowance) -> Allowance:
    """Add an allowance inside a transaction, and return it with its number."""
    row = {
        "student": allowance.student,
        "assignment": allowance.assignment,
        "kind": str(allowance.kind),
        "due": allowance.due,
        "days": allowance.days,
        "percent": allowance.percent,
        "reason": storable(allowance.reason, 1000),
        "by": allowance.by,
        "at": allowance.at,
    }
    key = connection.execute(sa.insert(allowances), row).inserted_primary_key
    assert key is not None
    return replace(allowance, id=key[0])


def _allowance(row: sa.RowMapping) -> Allowance:
    return Allowance(**{**row, "kind": AllowanceKind(row["kind"])})
