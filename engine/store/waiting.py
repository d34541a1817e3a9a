"""Code that was handed in on the site and waits for its grade: rows of a queue that several workers share.

A row is never deleted: what is done or set aside stays as a receipt. Who comes next isn't decided here, but
by the function that :meth:`WaitingHandIns.claim` is given. It asks the queue single questions, which the
database answers: how many hand-ins wait hardly matters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa

from engine.crash_points import reached
from engine.errors import UsageError
from engine.model import CodeSubmission, Mode
from engine.store.attempt import SETTLED
from engine.store.database import StorePart
from engine.store.sql_tables import attempts, decode, encode, storable
from engine.store.web_tables import waiting_hand_ins as rows

# Key of the advisory lock under which a server's queue is changed: one student never gets two places at once.
_QUEUE_LOCK = 0x50F73A22
# How far back it is looked for what a student had lately.
_LATELY_TURNS = 300


class HandInState(StrEnum):
    """Where a hand-in is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    SET_ASIDE = "set_aside"


@dataclass(frozen=True, slots=True)
class QueuedHandIn:
    """One hand-in of the queue, without its code.

    Parameters
    ----------
    id : int
    student, item : str
    submission : str
        SHA-256, as of the attempt that is made of it.
    mode : Mode
    handed : datetime
    state : HandInState
    turn : int or None
        The how-manieth hand-in it was that a worker began.
    worker : str or None
        Who has or had it.
    begun, heartbeat : datetime or None
        When it was begun last, and when its worker was last known to live.
    tries : int
        How often the machine failed to grade it.
    losses : int
        How many workers died over it.
    reason : str or None
        Why it has no grade yet.
    """

    id: int
    student: str
    item: str
    submission: str
    mode: Mode
    handed: datetime
    state: HandInState
    turn: int | None = None
    worker: str | None = None
    begun: datetime | None = None
    heartbeat: datetime | None = None
    tries: int = 0
    losses: int = 0
    reason: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether it still waits for its grade."""
        return self.state in (HandInState.WAITING, HandInState.RUNNING)


@dataclass(frozen=True, slots=True)
class Ready:
    """Which of the waiting hand-ins may be begun now.

    Parameters
    ----------
    other_than : frozenset of str
        Students of whom nothing is begun.
    rested : mapping of int to datetime
        How often the machine failed → until when the last time must have been. The highest number counts for
        all above it too.
    newest : bool
        Only the newest of each student, exercise and mode.
    """

    other_than: frozenset[str]
    rested: Mapping[int, datetime]
    newest: bool = False


@dataclass(frozen=True, slots=True)
class QueueState:
    """All open hand-ins, oldest first, and those that were begun lately.

    Parameters
    ----------
    waiting, running, lately : tuple of QueuedHandIn
    turn : int
        Number of the next turn.
    """

    waiting: tuple[QueuedHandIn, ...]
    running: tuple[QueuedHandIn, ...]
    lately: tuple[QueuedHandIn, ...]
    turn: int


class StoredQueue:
    """The queue as it is in the store, for one decision: what there is to choose from is asked for.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        Of the transaction in which it is decided.
    """

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        self.turn = _next_turn(connection)
        self.running = self._in_state(HandInState.RUNNING)
        # In the order of its index: in that of the numbers, SQLite reads whatever was handed in ever.
        self.lately = self._read(rows.c.turn >= self.turn - _LATELY_TURNS, by=rows.c.turn)

    @property
    def waiting(self) -> tuple[QueuedHandIn, ...]:
        """Everything that waits, oldest first: for a class that hands in before a deadline, thousands."""
        return self._in_state(HandInState.WAITING)

    def oldest(self, ready: Ready) -> QueuedHandIn | None:
        """Return the oldest of those that may be begun."""
        query = sa.select(*_LIGHT).where(*_are_ready(ready)).order_by(rows.c.id).limit(1)
        row = self._connection.execute(query).mappings().first()
        return None if row is None else _hand_in(row)

    def oldest_of_each(self, ready: Ready, students: Collection[str]) -> list[QueuedHandIn]:
        """Return the oldest that may be begun of each of these students, oldest first."""
        theirs = rows.c.student.in_(sorted(students))
        firsts = sa.select(sa.func.min(rows.c.id)).where(theirs, *_are_ready(ready)).group_by(rows.c.student)
        numbers = self._connection.execute(firsts).scalars().all()
        return list(self._read(rows.c.id.in_(numbers)))

    def _in_state(self, state: HandInState) -> tuple[QueuedHandIn, ...]:
        return self._read(rows.c.state == state)

    def _read(
        self, condition: sa.ColumnElement[bool], by: sa.Column[int] = rows.c.id
    ) -> tuple[QueuedHandIn, ...]:
        query = sa.select(*_LIGHT).where(condition).order_by(by)
        return tuple(map(_hand_in, self._connection.execute(query).mappings()))


def _are_ready(ready: Ready) -> list[sa.ColumnElement[bool]]:
    """Return what makes a waiting hand-in ready, as conditions of a query."""
    most = max(ready.rested)
    conditions = [
        rows.c.state == HandInState.WAITING,
        sa.or_(
            rows.c.tries == 0,
            rows.c.heartbeat.is_(None),
            *(
                sa.and_(rows.c.tries >= n if n == most else rows.c.tries == n, rows.c.heartbeat <= since)
                for n, since in ready.rested.items()
            ),
        ),
    ]
    if ready.other_than:
        conditions.append(rows.c.student.not_in(sorted(ready.other_than)))
    if ready.newest:
        newer = rows.alias("newer")
        alike = (newer.c[name] == rows.c[name] for name in ("student", "item", "mode", "state"))
        conditions.append(~sa.exists().where(*alike, newer.c.id > rows.c.id))
    return conditions


# The queue → the hand-in that is begun now, None for none.
Choose = Callable[[StoredQueue], QueuedHandIn | None]

# The times of a student's other hand-ins of an exercise → an error where there may be no more.
Permit = Callable[[Sequence[datetime]], None]

_OPEN = [str(HandInState.WAITING), str(HandInState.RUNNING)]
_LIGHT = [column for column in rows.c if column.name != "code"]


class WaitingHandIns(StorePart):
    """The queue of one course; any number of processes may work on it."""

    def add(
        self,
        student: str,
        item: str,
        submission: CodeSubmission,
        mode: Mode,
        now: datetime,
        permit: Permit = lambda times: None,
        most_open: int | None = None,
    ) -> int:
        """Store a hand-in and return its number; what waits already, or was set aside, isn't stored twice.

        Parameters
        ----------
        student, item : str
        submission : CodeSubmission
        mode : Mode
        now : datetime
        permit : callable
            Raises where the rules don't allow another one. It gets the :meth:`times` of the others, in the
            same transaction: of two windows only one can use the last hand-in that is left.
        most_open : int, optional
            How many of a student's programs may wait for their grades, over all exercises.

        Raises
        ------
        UsageError
            So many wait.
        """
        values = {
            "student": student,
            "item": item,
            "submission": submission.sha256,
            "mode": str(mode),
            "handed": now,
            "state": str(HandInState.WAITING),
            "tries": 0,
            "code": encode(replace(submission, modules=dict(submission.modules))),
        }
        same = sa.and_(
            *(rows.c[name] == values[name] for name in ("student", "item", "submission", "mode")),
            rows.c.state.in_([*_OPEN, HandInState.SET_ASIDE]),
        )
        theirs = sa.select(sa.func.count()).where(rows.c.student == student, rows.c.state.in_(_OPEN))
        alike = rows.c.item == item, rows.c.submission == submission.sha256
        killed = sa.select(rows.c.id).where(*alike, rows.c.state == HandInState.SET_ASIDE).limit(1)

        def insert(connection: sa.Connection) -> int:
            self._lock(connection)
            waits = connection.execute(sa.select(rows.c.id).where(same).order_by(rows.c.id.desc())).scalar()
            if waits is not None:
                return int(waits)
            permit(_times(connection, student, item, mode, submission.sha256))
            if most_open is not None and connection.execute(theirs).scalar_one() >= most_open:
                raise UsageError(
                    f"{most_open} of your programs wait for their grades already",
                    next_step="hand this in when one of them has been graded",
                )
            # A classmate's program of the same text killed workers: this one is begun alone.
            losses = int(connection.execute(killed).scalar() is not None)
            key = connection.execute(sa.insert(rows), values | {"losses": losses}).inserted_primary_key
            assert key is not None
            return int(key[0])

        number = self._database.change(insert)
        reached("after-hand-in")
        return number

    def times(self, student: str, item: str, mode: Mode, *, other_than: str | None = None) -> list[datetime]:
        """Return when a student handed in programs for an exercise, oldest first, each program once.

        Parameters
        ----------
        student, item : str
        mode : Mode
        other_than : str, optional
            Hash of a program that isn't counted.

        Returns
        -------
        list of datetime
            Of what was graded or waits for it; what couldn't be read or graded uses up nothing.
        """
        with self._database.read() as connection:
            return _times(connection, student, item, mode, other_than)

    def claim(self, worker: str, now: datetime, choose: Choose) -> QueuedHandIn | None:
        """Begin the hand-in that `choose` names, and return it as it is then; None where there is none."""
        # Looked at without the lock, which everybody who saves waits for.
        with self._database.snapshot() as look:
            queue = StoredQueue(look)
            chosen = choose(queue)
        if chosen is None:
            return None

        def begin(connection: sa.Connection) -> QueuedHandIn | None:
            nonlocal queue, chosen
            self._lock(connection)
            if _moves(connection) != (queue.turn, {hand_in.id for hand_in in queue.running}):
                queue = StoredQueue(connection)
                chosen = choose(queue)
            if chosen is None:
                return None
            # Erasing a person may have the row locked: then it is somebody else's turn.
            query = sa.select(rows.c.id).where(rows.c.id == chosen.id, rows.c.state == HandInState.WAITING)
            if connection.execute(query.with_for_update(skip_locked=True)).scalar() is None:
                return None
            change = sa.update(rows).where(rows.c.id == chosen.id)
            values = {"turn": queue.turn, "worker": worker, "begun": now, "heartbeat": now}
            connection.execute(change.values(state=str(HandInState.RUNNING), **values))
            row = connection.execute(sa.select(*_LIGHT).where(rows.c.id == chosen.id)).mappings().one()
            return _hand_in(row)

        claimed = self._database.change(begin)
        if claimed is not None:
            reached("after-claim")
        return claimed

    def state(self) -> QueueState:
        """Return the whole state of the queue: for where everybody stands, not for who comes next."""
        with self._database.read() as connection:
            queue = StoredQueue(connection)
            return QueueState(queue.waiting, queue.running, queue.lately, queue.turn)

    def code(self, number: int) -> CodeSubmission | None:
        """Return the code of an open hand-in; None once it is done, or erased with its student.

        Raises
        ------
        StoreError
            It can't be read.
        """
        with self._database.read() as connection:
            text = connection.execute(sa.select(rows.c.code).where(rows.c.id == number)).scalar()
        return decode(CodeSubmission, text, self._database.where) if text else None

    def beat(self, worker: str, now: datetime) -> None:
        """Note that a worker lives."""
        mine = rows.c.worker == worker, rows.c.state == HandInState.RUNNING
        change = sa.update(rows).where(*mine).values(heartbeat=now)
        self._database.change(lambda connection: connection.execute(change))

    def finish(self, hand_in: QueuedHandIn, now: datetime) -> bool:
        """Note that a hand-in is done with, and return whether it was still this worker's."""
        values = {"state": str(HandInState.DONE), "code": "", "reason": None, "heartbeat": now}
        return self._end(hand_in, values)

    def set_aside(self, hand_in: QueuedHandIn, now: datetime, reason: str) -> bool:
        """Note that a hand-in isn't tried any more; its code stays."""
        values = {"state": str(HandInState.SET_ASIDE), "reason": storable(reason), "heartbeat": now}
        return self._end(hand_in, values)

    def give_back(self, hand_in: QueuedHandIn, now: datetime, reason: str | None = None) -> bool:
        """Let a hand-in wait again: unharmed, or with the reason why the machine couldn't grade it."""
        tries = hand_in.tries + (reason is not None)
        values = {
            "state": str(HandInState.WAITING),
            "worker": None,
            "tries": tries,
            "reason": storable(reason),
            "heartbeat": now,
        }
        return self._end(hand_in, values)

    def _end(self, hand_in: QueuedHandIn, values: Mapping[str, object]) -> bool:
        # A worker that was taken for dead may come back after another one began: that one's word counts.
        mine = (
            rows.c.id == hand_in.id,
            rows.c.state == HandInState.RUNNING,
            rows.c.worker == hand_in.worker,
            rows.c.turn == hand_in.turn,
        )
        change = sa.update(rows).where(*mine).values(dict(values))
        return bool(self._database.change(lambda connection: connection.execute(change).rowcount))

    def take_from_the_dead(
        self, is_dead: Callable[[QueuedHandIn], bool], *, is_suspect: bool = True
    ) -> list[QueuedHandIn]:
        """Let the hand-ins of dead workers wait again; return them as they were.

        Parameters
        ----------
        is_dead : callable
        is_suspect : bool
            Whether a worker may have died of what it had in hand: then each has one loss more.
        """
        running = sa.select(*_LIGHT).where(rows.c.state == HandInState.RUNNING)

        def take(connection: sa.Connection) -> list[QueuedHandIn]:
            self._lock(connection)
            lost = [h for h in map(_hand_in, connection.execute(running).mappings()) if is_dead(h)]
            for hand_in in lost:
                losses = hand_in.losses + is_suspect
                values = {"state": str(HandInState.WAITING), "worker": None, "losses": losses}
                connection.execute(sa.update(rows).where(rows.c.id == hand_in.id).values(values))
            return lost

        return self._database.change(take)

    def try_again(self, number: int) -> bool:
        """Let a hand-in that was set aside wait again, as if it were new; return whether there was one."""
        aside = rows.c.id == number, rows.c.state == HandInState.SET_ASIDE
        values = {"state": str(HandInState.WAITING), "worker": None, "tries": 0, "losses": 0, "reason": None}
        change = sa.update(rows).where(*aside).values(values)
        return bool(self._database.change(lambda connection: connection.execute(change).rowcount))

    def find(self, number: int) -> QueuedHandIn | None:
        """Return the hand-in of that number."""
        with self._database.read() as connection:
            row = connection.execute(sa.select(*_LIGHT).where(rows.c.id == number)).mappings().first()
        return None if row is None else _hand_in(row)

    def of_student(
        self,
        student: str,
        item: str | None = None,
        *,
        mode: Mode | None = None,
        since: datetime | None = None,
    ) -> list[QueuedHandIn]:
        """Return what a student handed in on the site, newest first."""
        query = sa.select(*_LIGHT).where(rows.c.student == student).order_by(rows.c.id.desc())
        if item is not None:
            query = query.where(rows.c.item == item)
        if mode is not None:
            query = query.where(rows.c.mode == str(mode))
        if since is not None:
            query = query.where(rows.c.handed >= since)
        with self._database.read() as connection:
            return [_hand_in(row) for row in connection.execute(query).mappings()]

    def in_state(self, states: Collection[HandInState]) -> list[QueuedHandIn]:
        """Return the hand-ins in these states, oldest first."""
        query = sa.select(*_LIGHT).where(rows.c.state.in_([str(s) for s in states])).order_by(rows.c.id)
        with self._database.read() as connection:
            return [_hand_in(row) for row in connection.execute(query).mappings()]

    def _lock(self, connection: sa.Connection) -> None:
        # SQLite lets one writer in anyway.
        if self._database.is_server:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_QUEUE_LOCK)))


def _hand_in(row: sa.RowMapping) -> QueuedHandIn:
    values = dict(row)
    return QueuedHandIn(**values | {"mode": Mode(row["mode"]), "state": HandInState(row["state"])})


def _next_turn(connection: sa.Connection) -> int:
    return (connection.execute(sa.select(sa.func.max(rows.c.turn))).scalar() or 0) + 1


def _moves(connection: sa.Connection) -> tuple[int, set[int]]:
    """Return what changes whenever a hand-in is begun or ended: the next turn, and what is being graded."""
    running = sa.select(rows.c.id).where(rows.c.state == HandInState.RUNNING)
    return _next_turn(connection), set(connection.execute(running).scalars())


def _times(
    connection: sa.Connection, student: str, item: str, mode: Mode, other_than: str | None
) -> list[datetime]:
    queued = sa.select(rows.c.submission, rows.c.handed).where(
        rows.c.student == student,
        rows.c.item == item,
        rows.c.mode == str(mode),
        rows.c.state.in_(_OPEN),
    )
    graded = sa.select(
        attempts.c.submission, sa.func.coalesce(attempts.c.handed, attempts.c.started).label("handed")
    ).where(
        attempts.c.student == student,
        attempts.c.item == item,
        attempts.c.mode == str(mode),
        attempts.c.quiz_id.is_(None),
        attempts.c.outcome.in_([str(outcome) for outcome in SETTLED]),
    )
    first: dict[str, datetime] = {}
    for query in (queued, graded):
        for row in connection.execute(query):
            first[row.submission] = min(row.handed, first.get(row.submission, row.handed))
    return sorted(moment for submission, moment in first.items() if submission != other_than)
