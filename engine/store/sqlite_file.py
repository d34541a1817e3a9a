"""SQLite the way that the store needs it: journal, pragmas, transactions that can wait."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from engine.errors import StoreError
from engine.store.faults import store_faults
from engine.store.filesystem import is_local

__all__ = ["Pace", "begin_file", "sqlite_engine", "write_option"]

_WRITE = "softmark_write"


@dataclass
class Pace:
    """How long a commit waits; read by the connections of one database."""

    hurried: bool = False


def write_option(write: bool) -> Mapping[str, bool]:
    """Return the execution option that tells whether a transaction is going to write."""
    return {_WRITE: write}


def sqlite_engine(path: Path, busy_timeout_s: float) -> tuple[sa.Engine, Pace | None]:
    """Return the connections of a file, made if it isn't there, and the pace of its commits.

    The pace is None where commits always wait: without the write-ahead log.

    Raises
    ------
    StoreError
        It can't be opened, or is no database.
    """
    with store_faults(str(path)):
        if path.is_dir():
            raise StoreError("the store is a folder", where=str(path), expected="a file")
        journal = "WAL" if is_local(path.parent) else "DELETE"
        _make_or_check(path, journal)
        pace = Pace() if journal == "WAL" else None
        engine = sa.create_engine(
            sa.URL.create("sqlite", database=str(path)), connect_args={"timeout": busy_timeout_s}
        )

        @sa.event.listens_for(engine, "connect")
        def on_connect(connection: sqlite3.Connection, _record: Any) -> None:
            # Transactions are opened by us alone: sqlite3's own deferred BEGIN can't be retried.
            connection.isolation_level = None
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")

        @sa.event.listens_for(engine, "begin")
        def on_begin(connection: sa.Connection) -> None:
            write = connection.get_execution_options().get(_WRITE, False)
            if write and pace is not None:
                connection.exec_driver_sql(f"PRAGMA synchronous = {'NORMAL' if pace.hurried else 'FULL'}")
            connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

        try:
            _set_journal(engine, journal)
        except BaseException:
            engine.dispose()
            raise
        return engine, pace


def _make_or_check(path: Path, journal: str) -> None:
    """Make a new file where there is none; one without a byte was a store that somebody has emptied.

    A new file gets its name only when it has a beginning, so that nobody ever finds an empty one of ours.
    """
    if path.exists():
        if path.stat().st_size == 0:
            raise StoreError(
                "the store is empty: the file has 0 bytes",
                where=str(path),
                next_step="restore it from a backup; if nothing was ever stored here, delete the file, and a "
                "new store is made",
            )
        return
    # Whatever can't be done here is done, or refused with its reason, when the file is opened.
    with contextlib.suppress(OSError, sqlite3.Error), tempfile.TemporaryDirectory(dir=path.parent) as name:
        begun = Path(name) / "store.db"
        begin_file(begun, journal)
        os.link(begun, path)  # fails where another process was faster


def begin_file(path: Path, journal: str) -> None:
    """Write the first page of a database without tables; an empty file there keeps its permissions."""
    connection = sqlite3.connect(path)
    try:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("PRAGMA user_version = 1")  # writes the first page
    finally:
        connection.close()


def _set_journal(engine: sa.Engine, journal: str) -> None:
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        if cursor.execute("PRAGMA journal_mode").fetchone()[0].upper() != journal:
            cursor.execute(f"PRAGMA journal_mode = {journal}")
        cursor.close()
    finally:
        raw.close()
