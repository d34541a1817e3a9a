"""Open a database the way that the store needs it: pragmas, transactions, migrations."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from engine.errors import StoreError
from engine.store.faults import store_faults
from engine.store.filesystem import is_local
from engine.store.tables import SCHEMA_VERSION, VERSION_TABLE

__all__ = ["Database", "open_database"]

_WRITE = "softmark_write"


@dataclass
class _Pace:
    """How long a commit waits; read by the connections of one database."""

    hurried: bool = False


class Database:
    """Transactions on one database; safe to use from several threads."""

    def __init__(self, engine: sa.Engine, where: str, pace: _Pace | None = None) -> None:
        self.where = where
        self._pace = pace  # None: commits always wait for the disk
        self._engine = engine
        self._reader = engine.execution_options(**{_WRITE: False})
        self._writer = engine.execution_options(**{_WRITE: True})
        # SQLite lets one writer in; threads of this process queue here instead of polling its lock.
        self._turn = threading.Lock()

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Give a connection inside a read transaction."""
        with store_faults(self.where), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Give a connection inside a write transaction; it is committed at the end or not at all."""
        with self._turn, store_faults(self.where), self._writer.begin() as connection:
            yield connection

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
            self._checkpoint()

    def _checkpoint(self) -> None:
        """Write the log to the disk and into the database, as far as no reader is in the way."""
        with store_faults(self.where):
            raw = self._engine.raw_connection()
            try:
                raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                raw.close()

    def close(self) -> None:
        """Give back all connections."""
        self._engine.dispose()


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
        database = Database(*_server_engine(text))
    else:
        engine, pace = _sqlite_engine(Path(target), busy_timeout_s)
        database = Database(engine, text, pace)
    try:
        _migrate(database)
    except BaseException:
        database.close()
        raise
    return database


def _server_engine(text: str) -> tuple[sa.Engine, str]:
    try:
        url = sa.make_url(text)
    except sa.exc.ArgumentError as error:
        raise StoreError(
            "the store's address can't be read", expected="postgresql://user@host/name"
        ) from error
    where = url.render_as_string(hide_password=True)
    if url.get_backend_name() == "sqlite":
        raise StoreError(
            "an SQLite store is given by its path", where=where, expected="a path without sqlite://"
        )
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    try:
        return sa.create_engine(url, pool_pre_ping=True), where
    except (ImportError, sa.exc.NoSuchModuleError) as error:
        raise StoreError(
            "the driver for this database isn't installed",
            where=where,
            got=str(error),
            next_step="pip install 'softmark[postgres]'",
        ) from error


def _sqlite_engine(path: Path, busy_timeout_s: float) -> tuple[sa.Engine, _Pace | None]:
    with store_faults(str(path)):
        if path.is_dir():
            raise StoreError("the store is a folder", where=str(path), expected="a file")
        journal = "WAL" if is_local(path.parent) else "DELETE"
        pace = _Pace() if journal == "WAL" else None
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


def _set_journal(engine: sa.Engine, journal: str) -> None:
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        if cursor.execute("PRAGMA journal_mode").fetchone()[0].upper() != journal:
            cursor.execute(f"PRAGMA journal_mode = {journal}")
        cursor.close()
    finally:
        raw.close()


def _migrate(database: Database) -> None:
    with database.read() as connection:
        if _version(connection, database.where) == SCHEMA_VERSION:
            return
    with database.write() as connection:
        # Another process may have done it while we waited for the lock.
        if _version(connection, database.where) != SCHEMA_VERSION:
            _upgrade(connection, database.where)


def _version(connection: sa.Connection, where: str) -> str | None:
    tables = sa.inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        if tables:
            raise StoreError(
                "the database belongs to another program",
                where=where,
                got=f"tables {', '.join(sorted(tables)[:5])}",
                next_step="give Softmark a database of its own",
            )
        return None
    version = sa.table(VERSION_TABLE, sa.column("version_num", sa.String))
    found = connection.execute(sa.select(version.c.version_num)).scalar()
    return None if found is None else str(found)


def _upgrade(connection: sa.Connection, where: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    found = _version(connection, where)
    if found is not None and found not in known:
        raise StoreError(
            "the store was made by a newer Softmark",
            where=where,
            expected=f"schema {SCHEMA_VERSION} or older",
            got=f"schema {found}",
            next_step="update Softmark with `pip install -U softmark`; the store is left as it is",
        )
    command.upgrade(config, "head")
