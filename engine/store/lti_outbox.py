"""The marks that learning systems must be told: one row for each of their columns and users.

A row holds the newest mark. Its time ``at`` is written before the mark is sent, so that whoever is killed in
between sends the same mark with the same time again; it grows with each new mark, because learning systems
ignore what isn't newer than what they have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from engine.store.database import StorePart
from engine.store.sessions import secret_hash
from engine.store.sql_tables import attempts, hand_marks, regrades, storable
from engine.store.web_tables import allowances, lti_grades, lti_nonces, lti_people

# There is no mark (any more): one that was put in before is taken back. The word is that of the first case.
NO_MARK = "excused"
# Systems keep times by the second.
_STEP = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class MarkForLms:
    """A mark as a learning system is to have it.

    Parameters
    ----------
    platform : int
    line_item : str
        Address of the column.
    subject : str
        The learning system's user.
    student : str
    score : float or None
        Points; None where nothing is graded.
    maximum : float
        Full points.
    progress : str
        ``graded``, ``pending`` (it will be graded), ``manual`` (a person must mark it), ``failed`` (the
        machine couldn't grade it), or :data:`NO_MARK`.
    is_final : bool
        Whether no further attempt is possible.
    comment : str
        For the student.
    """

    platform: int
    line_item: str
    subject: str
    student: str
    score: float | None
    maximum: float
    progress: str = "graded"
    is_final: bool = True
    comment: str = ""


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A mark with what became of it.

    Parameters
    ----------
    mark : MarkForLms
    at : datetime
        The time that the learning system compares.
    sent : datetime or None
        ``at`` of the mark that the learning system has.
    tries : int
        How often this mark was tried without success.
    next_try : datetime or None
        None: nothing is to be sent.
    reason : str or None
        Why the last try failed.
    """

    mark: MarkForLms
    at: datetime
    sent: datetime | None
    tries: int
    next_try: datetime | None
    reason: str | None

    @property
    def is_sent(self) -> bool:
        """Whether the learning system has it."""
        return self.sent == self.at


# What grows with each change of a mark, and whom it is about.
_CHANGES: Mapping[str, tuple[sa.Column[Any], sa.Column[str]]] = {
    "attempts": (attempts.c.id, attempts.c.student),
    "graded": (attempts.c.finished, attempts.c.student),
    "by hand": (hand_marks.c.id, hand_marks.c.student),
    "regrades": (regrades.c.id, regrades.c.student),
    "allowances": (allowances.c.id, allowances.c.student),
    "withdrawn": (allowances.c.withdrawn, allowances.c.student),
    "people": (lti_people.c.seen, lti_people.c.person),
}

_KEY = ("platform", "line_item", "subject")
_VALUES = ("student", "score", "maximum", "progress", "is_final", "comment")


class LtiOutbox(StorePart):
    """The marks of one course for its learning systems."""

    def put(self, marks: Sequence[MarkForLms], now: datetime) -> int:
        """Take in marks; one that is there already changes nothing. Returns how many are new."""
        if not marks:
            return 0

        def put_all(connection: sa.Connection) -> int:
            return sum(_put(connection, mark, now) for mark in marks)

        return self._database.change(put_all)

    def claim(self, now: datetime, *, lease: timedelta, most: int) -> list[OutboxRow]:
        """Return marks to be sent now, the longest waiting first; nobody else gets them for `lease`."""
        query = (
            sa.select(lti_grades)
            .where(lti_grades.c.next_try <= now)
            .order_by(lti_grades.c.next_try, *(lti_grades.c[name] for name in _KEY))
            .limit(most)
        )

        def take(connection: sa.Connection) -> list[OutboxRow]:
            rows = []
            for row in connection.execute(query).mappings().all():
                change = (
                    sa.update(lti_grades)
                    .where(_is(row), lti_grades.c.next_try == row["next_try"])
                    .values(next_try=now + lease)
                )
                if connection.execute(change).rowcount:  # else another process has it
                    rows.append(_outbox_row(row))
            return rows

        with self._database.read() as connection:  # mostly there is nothing: then nothing is written
            if connection.execute(query.limit(1)).first() is None:
                return []
        return self._database.change(take)

    def note_sent(self, row: OutboxRow) -> None:
        """Note that the learning system has a mark; a newer one, put in meanwhile, stays to be sent."""

        def note(connection: sa.Connection) -> None:
            mine = _mark_key(row.mark)
            connection.execute(sa.update(lti_grades).where(mine).values(sent=row.at))
            done = {"next_try": None, "tries": 0, "reason": None}
            connection.execute(sa.update(lti_grades).where(mine, lti_grades.c.at == row.at).values(done))

        self._database.change(note)

    def note_failed(self, row: OutboxRow, reason: str, next_try: datetime) -> None:
        """Note why a mark wasn't sent, and when to try again."""
        values = {"reason": storable(reason, 500), "next_try": next_try, "tries": row.tries + 1}
        change = sa.update(lti_grades).where(_mark_key(row.mark), lti_grades.c.at == row.at).values(values)
        self._database.change(lambda connection: connection.execute(change))

    def move_time(self, row: OutboxRow, now: datetime) -> OutboxRow:
        """Give a mark a later time, because the learning system has a later one than we know of."""
        at = max(_whole(now), row.at + _STEP)
        same = sa.and_(_mark_key(row.mark), lti_grades.c.at == row.at)
        self._database.change(
            lambda connection: connection.execute(sa.update(lti_grades).where(same).values(at=at))
        )
        return OutboxRow(row.mark, at, row.sent, row.tries, row.next_try, row.reason)

    def hold(self, name: str, now: datetime, *, lease: timedelta) -> bool:
        """Hold a name for a while; False where somebody else does, in whichever process."""
        key = secret_hash(f"held {name}")

        def take(connection: sa.Connection) -> bool:
            mine = lti_nonces.c.id == key
            connection.execute(sa.delete(lti_nonces).where(mine, lti_nonces.c.expires <= now))
            if connection.execute(sa.select(lti_nonces.c.id).where(mine)).scalar() is not None:
                return False
            row = {"id": key, "kind": "held", "data": "{}", "expires": now + lease, "used": None}
            connection.execute(sa.insert(lti_nonces), row)
            return True

        return self._database.change(take)

    def release(self, row: OutboxRow, next_try: datetime) -> None:
        """Give back a mark that wasn't tried."""
        same = sa.and_(_mark_key(row.mark), lti_grades.c.at == row.at)
        change = sa.update(lti_grades).where(same).values(next_try=next_try)
        self._database.change(lambda connection: connection.execute(change))

    def retry_all(self, now: datetime) -> int:
        """Try everything that waits at once; return how many marks that are."""
        change = sa.update(lti_grades).where(lti_grades.c.next_try.is_not(None)).values(next_try=now)
        return int(self._database.change(lambda connection: connection.execute(change).rowcount))

    def rows(self, *, waiting: bool = False, most: int = 10_000) -> list[OutboxRow]:
        """Return all marks, or those that wait, in the order of column and student."""
        query = sa.select(lti_grades).order_by(
            lti_grades.c.platform, lti_grades.c.line_item, lti_grades.c.student
        )
        if waiting:
            query = query.where(lti_grades.c.next_try.is_not(None))
        with self._database.read() as connection:
            return [_outbox_row(row) for row in connection.execute(query.limit(most)).mappings()]

    def places(self, students: Collection[str] | None = None) -> set[tuple[int, str, str]]:
        """Return systems, columns and users with a mark, sent or not, of some students or of all."""
        query = sa.select(*(lti_grades.c[name] for name in _KEY))
        if students is not None:
            query = query.where(lti_grades.c.student.in_(students))
        with self._database.read() as connection:
            return {(row.platform, row.line_item, row.subject) for row in connection.execute(query)}

    def changed_students(self, since: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
        """Return whose marks can have changed: by new work, a decision, a regrade, or a first launch.

        Parameters
        ----------
        since : mapping
            What the call before returned first; empty for the first one, which looks at nobody.
        """
        with self._database.snapshot() as connection:
            newest = {
                name: connection.execute(sa.select(sa.func.max(column))).scalar()
                for name, (column, _) in _CHANGES.items()
            }
            students: set[str] = set()
            for name, (column, student) in _CHANGES.items() if since else ():
                query = sa.select(student).distinct()
                # Of times the last moment counts again: two rows can have the same.
                before = since.get(name)
                if newest[name] is None:
                    continue
                if before is not None:
                    later = column > before if isinstance(before, int) else column >= before
                    query = query.where(later if newest[name] != before else sa.false())
                students.update(connection.execute(query).scalars())
        return newest, students

    def counts(self) -> dict[str, int]:
        """Return how many marks were sent, wait for the first time, and failed at least once."""
        c = lti_grades.c
        query = sa.select(
            sa.func.count().filter(c.next_try.is_(None)),
            sa.func.count().filter(c.next_try.is_not(None), c.reason.is_(None)),
            sa.func.count().filter(c.next_try.is_not(None), c.reason.is_not(None)),
        )
        with self._database.read() as connection:
            sent, waiting, failed = connection.execute(query).one()
        return {"sent": sent, "waiting": waiting, "failed": failed}


def _put(connection: sa.Connection, mark: MarkForLms, now: datetime) -> int:
    mine = _mark_key(mark)
    row = connection.execute(sa.select(lti_grades).where(mine).with_for_update()).mappings().first()
    values = {name: getattr(mark, name) for name in _VALUES} | {"comment": storable(mark.comment, 2000)}
    if row is not None and all(row[name] == value for name, value in values.items()):
        return 0
    if row is None and mark.progress == NO_MARK:
        return 0  # the learning system never got anything to take back
    fresh = {"tries": 0, "next_try": now, "reason": None}
    if row is None:
        key = {name: getattr(mark, name) for name in _KEY}
        connection.execute(sa.insert(lti_grades), {**key, **values, **fresh, "at": _whole(now), "sent": None})
    else:
        at = max(_whole(now), row["at"] + _STEP)
        connection.execute(sa.update(lti_grades).where(mine).values({**values, **fresh, "at": at}))
    return 1


def _whole(now: datetime) -> datetime:
    return now.replace(microsecond=0)


def _mark_key(mark: MarkForLms) -> sa.ColumnElement[bool]:
    return sa.and_(*(lti_grades.c[name] == getattr(mark, name) for name in _KEY))


def _is(row: sa.RowMapping) -> sa.ColumnElement[bool]:
    return sa.and_(*(lti_grades.c[name] == row[name] for name in _KEY))


def _outbox_row(row: sa.RowMapping) -> OutboxRow:
    mark = MarkForLms(**{name: row[name] for name in (*_KEY, *_VALUES)})
    return OutboxRow(mark, *(row[name] for name in ("at", "sent", "tries", "next_try", "reason")))
