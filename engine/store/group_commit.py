"""Changes that wait for their turn at the same time share a transaction, and one wait for the disk.

SQLite lets one writer in, and each commit waits until the disk has it: some milliseconds, whatever was
changed. While one thread waits there, others come with a change of their own. The first of them writes all of
these changes, each in a savepoint, so that one that fails takes none of the others with it; whoever brought a
change goes on when the commit is on the disk. A class that types costs one wait for dozens of saved answers,
and changes are made in the order in which they came: no thread starves.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast

import sqlalchemy as sa

from engine.store.sqlite import store_faults

T = TypeVar("T")

# So that nobody waits for long before the commit: a save takes about a millisecond.
_MOST_TOGETHER = 64


@dataclass(eq=False)
class _Change(Generic[T]):
    """A change, whose thread sleeps until it is made or until its thread has to write."""

    work: Callable[[sa.Connection], T]
    wake: threading.Event = field(default_factory=threading.Event)
    is_done: bool = False
    result: T | None = None
    error: BaseException | None = None

    def outcome(self) -> T:
        if self.error is not None:
            raise self.error
        return cast("T", self.result)


class GroupCommit:
    """The queue of changes to one SQLite file; safe to use from several threads.

    Parameters
    ----------
    begin : callable
        Begins a write transaction, which is committed at the end of the block or not at all.
    where : str
        The file, for messages.
    """

    def __init__(self, begin: Callable[[], AbstractContextManager[sa.Connection]], where: str) -> None:
        self._begin = begin
        self._where = where
        self._lock = threading.Lock()
        self._waiting: deque[_Change[object]] = deque()
        self._has_writer = False

    def change(self, work: Callable[[sa.Connection], T]) -> T:
        """Return what `work` returns, once its change is committed.

        `work` may run in another caller's thread, and twice if the transaction that it was part of failed.

        Raises
        ------
        StoreError
            The change couldn't be written; nothing of it was.
        """
        change = _Change(work)
        mine = cast("_Change[object]", change)
        with self._lock:
            self._waiting.append(mine)
            is_writer = not self._has_writer
            self._has_writer = True
        if not is_writer:
            self._sleep(mine)
        if not mine.is_done:
            self._write(mine)
        return change.outcome()

    def _sleep(self, mine: _Change[object]) -> None:
        try:
            mine.wake.wait()
        except BaseException:
            # Somebody interrupts this thread: it leaves the queue, and the others mustn't wait for it.
            with self._lock:
                if mine in self._waiting:
                    self._waiting.remove(mine)
                if mine.wake.is_set() and not mine.is_done:
                    self._call_next()
            raise

    def _write(self, mine: _Change[object]) -> None:
        with self._lock:
            together = [self._waiting.popleft() for _ in range(min(_MOST_TOGETHER, len(self._waiting)))]
        try:
            self._make(together)
        finally:
            with self._lock:
                # Where this thread was interrupted, another one makes the changes of the others.
                left = [change for change in together if not (change.is_done or change is mine)]
                self._waiting.extendleft(reversed(left))
                self._call_next()
            for change in together:
                if change.is_done:
                    change.wake.set()

    def _call_next(self) -> None:
        if self._waiting:
            self._waiting[0].wake.set()
        else:
            self._has_writer = False

    def _make(self, together: list[_Change[object]]) -> None:
        """Make changes in one transaction; in one of its own each where that fails."""
        if len(together) > 1 and self._make_in_one(together):
            return
        for change in together:
            try:
                with self._begin() as connection:
                    change.result = change.work(connection)
            except Exception as error:
                change.error = error
            change.is_done = True

    def _make_in_one(self, together: list[_Change[object]]) -> bool:
        outcomes: list[tuple[object, Exception | None]] = []
        try:
            with self._begin() as connection:
                for change in together:
                    try:
                        with store_faults(self._where), connection.begin_nested():
                            outcomes.append((change.work(connection), None))
                    except Exception as error:
                        if not _is_begun(connection):
                            raise
                        outcomes.append((None, error))
        except Exception:
            # A full disk, say, ended the whole transaction: nobody's change is in the store.
            return False
        for change, (change.result, change.error) in zip(together, outcomes, strict=True):
            change.is_done = True
        return True


def _is_begun(connection: sa.Connection) -> bool:
    """Return whether a transaction still is one: some faults of the disk make SQLite end it by itself."""
    return bool(getattr(connection.connection.driver_connection, "in_transaction", False))
