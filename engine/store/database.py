"""Transactions on the store's database, whichever kind it is."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa

from engine.errors import StoreError
from engine.store.faults import store_faults
from engine.store.schema import bring_up_to_date
from engine.store.server import server_engine
from engine.store.sqlite_file import Pace, sqlite_engine
from engine.store.sqlite_file import write_option as _write_option

__all__ = ["Database", "open_database"]

T = TypeVar("T")

_TRIES = 3


class Database:
    """Transactions on one database; safe to use from several threads."""

    def __init__(self, engine: sa.Engine, where: str, pace: Pace | None = None) -> None:
        self.where = where
        self._pace = pace  # None: commits always wait for the disk
        self._engine = engine
        self._reader = engine.execution_options(**_write_option(False))
        self._writer = engine.execution_options(**_write_option(True))
        # SQLite lets one writer in; threads of this process queue here instead of polling its lock.
        self._turn = threading.Lock()

    @property
    def is_server(self) -> bool:
        """Whether it is a server, and no SQLite file."""
        return self._engine.dialect.name != "sqlite"

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Give a connection inside a read transaction."""
        with store_faults(self.where), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sa.Connection]:
        """Give a connection that sees one state of the whole store, whatever others write meanwhile."""
        reader = self._reader
        if self.is_server:  # SQLite's read transactions are like that anyway
            reader = reader.execution_options(isolation_level="REPEATABLE READ")
        with store_faults(self.where), reader.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Give a connection inside a write transaction; it is committed at the end or not at all."""
        with self._turn, store_faults(self.where), self._writer.begin() as connection:
            yield connection

    def change(self, work: Callable[[sa.Connection], T]) -> T:
        """Do `work` in a write transaction, and again where another writer was first.

        Only a server lets two writers in at once: what one of them looked up, the other may have changed.
        """
        for tries_left in reversed(range(_TRIES)):
            try:
                with self.write() as connection:
                    return work(connection)
            except StoreError as error:
                if not (tries_left and self.is_server and _was_second(error)):
                    raise
        raise AssertionError("the last try returns or raises")

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Let commits not wait for the disk while the block runs; at its end all of them are on it.

        A killed program loses nothing that was committed, and the database stays whole in any case; a
        power cut can take back the last commits. Only SQLite's write-ahead log offers this.
        """
        if self._pace is None:
            yield
            return
        self._pace.hurried = True
        try:
            yield
        finally:
            self._pace.hurried = False
            self.checkpoint()

    def checkpoint(self) -> None:
        """Write SQLite's log to the disk and into the database, as far as no reader is in the way."""
        if self._pace is None:
            return
        with store_faults(self.where):
            raw = self._engine.raw_connection()
            try:
                raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                raw.close()

    def save_as(self, path: Path) -> None:
        """Write one state of an SQLite file to another one; writers aren't held up by it."""
        with store_faults(self.where):
            raw = self._engine.raw_connection()
            target = sqlite3.connect(path)
            try:
                source = raw.driver_connection
                assert isinstance(source, sqlite3.Connection)
                source.backup(target)
            finally:
                target.close()
                raw.close()

    def close(self) -> None:
        """Give back all connections."""
        self._engine.dispose()


def _was_second(error: StoreError) -> bool:
    """Tell whether a write failed because another writer came first: a row of it, or its locks."""
    cause = error.__cause__
    if isinstance(cause, sa.exc.IntegrityError):
        return True
    state = getattr(getattr(cause, "orig", None), "sqlstate", None)
    return state in ("40001", "40P01")  # serialization failure, deadlock


def open_database(target: str | Path, *, busy_timeout_s: float = 30.0) -> Database:
    """Open or create a store's database and bring its schema up to date.

    Parameters
    ----------
    target : str or Path
        A file's path, or a URL such as ``postgresql://user@host/softmark``.
    busy_timeout_s : float
        How long to wait for another writer.

    Raises
    ------
    StoreError
        When it can't be opened, isn't a store, or comes from a newer Softmark.
    """
    text = str(target)
    if "://" in text:
        database = Database(*server_engine(text, busy_timeout_s))
    else:
        engine, pace = sqlite_engine(Path(target), busy_timeout_s)
        database = Database(engine, text, pace)
    try:
        bring_up_to_date(database)
    except BaseException:
        database.close()
        raise
    return database
