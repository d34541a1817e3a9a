"""Transactions on the store's database, SQLite or PostgreSQL; its tables are migrated when it is opened."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import sqlalchemy as sa

from engine.errors import StoreError
from engine.store.postgres import ServerPatience, server_engine
from engine.store.sql_tables import SCHEMA_VERSION, VERSION_TABLE
from engine.store.sqlite import CommitPace, sqlite_engine, store_faults, write_option

# The key of an advisory lock: any number that nobody else on the server uses. Who holds it migrates, the
# others wait.
_MIGRATION_LOCK = 0x50F73A21


def bring_up_to_date(database: Database) -> None:
    """Make the tables, or apply the missing revisions; all of them or none.

    Raises
    ------
    StoreError
        It belongs to another program, or was made by a newer Softmark; it is left as it is.
    """
    with database.read() as connection:
        if schema_version(connection, database.where) == SCHEMA_VERSION:
            return
    with database.write() as connection:
        if database.is_server:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        # Another process may have migrated it while we waited for the lock.
        if schema_version(connection, database.where) != SCHEMA_VERSION:
            _upgrade(connection, database.where)


def schema_version(connection: sa.Connection, where: str) -> str | None:
    """Return the revision of the store at `where`; None while it is empty.

    Raises
    ------
    StoreError
        The database has tables that aren't ours.
    """
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
    revision = connection.execute(sa.select(version.c.version_num)).scalar()
    return None if revision is None else str(revision)


def _upgrade(connection: sa.Connection, where: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    # A % in the path would begin an interpolation of the configuration.
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    current = schema_version(connection, where)
    if current is not None and current not in known:
        raise StoreError(
            "the store was made by a newer Softmark",
            where=where,
            expected=f"schema {SCHEMA_VERSION} or older",
            got=f"schema {current}",
            next_step="update Softmark with `pip install -U softmark`; the store is left as it is",
        )
    command.upgrade(config, "head")


def has_store(target: str | Path) -> bool:
    """Return whether there is a store at a path or address; none is made."""
    if "://" not in str(target) and not Path(target).exists():
        return False
    with closing(open_database(target, migrate=False)) as database, database.read() as connection:
        return VERSION_TABLE in sa.inspect(connection).get_table_names()


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

    SQLite lets one writer in, and each commit waits until the disk has it: some milliseconds, whatever
    was changed. While one thread waits there, others come with a change of their own. The first of them
    writes all of these changes, each in a savepoint, so that one that fails takes none of the others with
    it; whoever brought a change goes on when the commit is on the disk. A class that types costs one wait
    for dozens of saved answers, and changes are made in the order in which they came: no thread starves.

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


# Of what has piled up on a connection, some ten thousand notices; no sender keeps a reader here for ever.
_NOTICE_READS = 20

# Of two writers one is through after the first try; a third try is for bad luck with a third one.
_TRIES = 3


class _JoinedTransaction(threading.local):
    """The transaction of :meth:`Database.one_transaction` that this thread is in."""

    connection: sa.Connection | None = None


class Database:
    """Transactions on one database; safe to use from several threads."""

    def __init__(
        self,
        engine: sa.Engine,
        where: str,
        pace: CommitPace | None = None,
        patience: ServerPatience | None = None,
    ) -> None:
        self.where = where
        self._patience = patience  # None: a file, which doesn't keep anybody waiting
        self._pace = pace  # None: commits always wait for the disk
        self._engine = engine
        self._reader = engine.execution_options(**write_option(False))
        self._writer = engine.execution_options(**write_option(True))
        # SQLite lets one writer in; threads of this process queue here instead of polling its lock.
        self._turn = threading.Lock()
        self._joined = _JoinedTransaction()
        self._together = None if self.is_server else GroupCommit(self.write, where)

    @property
    def is_server(self) -> bool:
        """Whether it is a server, and no SQLite file."""
        return self._engine.dialect.name != "sqlite"

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Yield a connection inside a read transaction."""
        if (joined := self._joined.connection) is not None:
            with store_faults(self.where):
                yield joined
            return
        with store_faults(self.where), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sa.Connection]:
        """Yield a connection that sees one state of the whole store, whatever others write meanwhile."""
        reader = self._reader
        if self.is_server:  # SQLite's read transactions do so anyway
            reader = reader.execution_options(isolation_level="REPEATABLE READ")
        with store_faults(self.where), reader.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Yield a connection inside a write transaction; it is committed at the end or not at all."""
        if (joined := self._joined.connection) is not None:
            with store_faults(self.where), joined.begin_nested():
                yield joined
            return
        # Writing from the start: SQLite can't wait for a lock that a reading transaction asks for later.
        with self._turn, store_faults(self.where), self._writer.begin() as connection:
            yield connection

    @contextmanager
    def one_transaction(self) -> Iterator[None]:
        """Make all that this thread reads and writes inside the block one transaction.

        Each change in the block is a savepoint, repeated where another writer was first; an error that leaves
        the block takes back all of them. Nobody else writes to an SQLite file meanwhile: no block may wait.
        """
        if self._joined.connection is not None:
            yield
            return
        # Faults are the store's only where it begins and ends: in between runs what isn't ours.
        with self._turn, closing(self._connected()) as connection:
            with store_faults(self.where):
                transaction = connection.begin()
            self._joined.connection = connection
            try:
                yield
            except BaseException:
                with store_faults(self.where):
                    transaction.rollback()
                raise
            finally:
                self._joined.connection = None
            with store_faults(self.where):
                transaction.commit()

    def _connected(self) -> sa.Connection:
        with store_faults(self.where):
            return self._writer.connect()

    def change(self, work: Callable[[sa.Connection], T]) -> T:
        """Do `work` in a write transaction, and repeat it where another writer was first.

        On SQLite the transaction may hold changes of other threads too.
        """
        # Another thread could do this work in its own transaction, which isn't the one of our block.
        if self._together is not None and self._joined.connection is None:
            return self._together.change(work)
        # Only a server lets two writers in at once: what one has looked up, the other may have changed.
        for tries_left in reversed(range(_TRIES)):
            try:
                with self.write() as connection:
                    return work(connection)
            except StoreError as error:
                if not (tries_left and _lost_race(error)):
                    raise
        raise AssertionError("the last try returns or raises")

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Don't let commits wait for the disk inside the block; at its end all of them are on it.

        A killed program loses nothing that was committed, and the database stays whole in any case; a
        power cut can undo the last commits.
        """
        # Only SQLite's write-ahead log offers this.
        if self._pace is None:
            yield
            return
        self._pace.hurried = True
        try:
            yield
        finally:
            self._pace.hurried = False
            self.checkpoint()

    def notices(self, channel: str, halt: threading.Event) -> Iterator[None]:
        """Yield whenever a server gives notices on a channel, until `halt` is set; it takes a connection.

        Those that have come meanwhile are told by one: each says no more than that there is news.

        Through a pooler no notice arrives: then it yields every second, for whoever looks then.

        Parameters
        ----------
        channel : str
            A name, not quoted.
        halt : threading.Event
            Looked at every second.
        """
        listener = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        with store_faults(self.where), listener.connect() as connection:
            driver: Any = connection.connection.driver_connection
            is_pooled = driver.is_pooled()
            if not is_pooled:
                connection.execute(sa.text(f'LISTEN "{channel}"'))
            while not is_pooled and not halt.is_set():
                if not [*driver.notifies(timeout=1.0, stop_after=1)]:
                    continue
                for _ in range(_NOTICE_READS):
                    if not [*driver.notifies(timeout=0)]:
                        break
                yield
            # Another user of this connection mustn't get what comes for us.
            if not is_pooled:
                connection.execute(sa.text("UNLISTEN *"))
        while is_pooled and not halt.wait(1.0):
            yield

    def limit_answers(self, seconds: float) -> None:
        """Give up a server that says nothing for so long, with an error; what was stored stays."""
        if self._patience is not None:
            self._patience.seconds = seconds
            self._engine.dispose()  # what is connected already knows no limit

    def checkpoint(self) -> None:
        """Move SQLite's write-ahead log into the database file, as far as no reader is in the way."""
        if self._pace is None:
            return
        with store_faults(self.where):
            raw = self._engine.raw_connection()
            try:
                # TRUNCATE also empties the log, which otherwise keeps its largest size.
                raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                raw.close()

    def save_as(self, path: Path) -> None:
        """Copy one state of an SQLite file to another file, without holding up writers."""
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


class StorePart:
    """The part of a store's interface that is about one kind of rows."""

    def __init__(self, database: Database) -> None:
        self._database = database


def rows_by_student(
    database: Database, query: sa.Select[Any], students: Sequence[str]
) -> Iterator[list[sa.RowMapping]]:
    """Yield the rows of each of these students, in their order, all read by one statement.

    Parameters
    ----------
    database : Database
    query : sqlalchemy.Select
        Of rows that have a column ``student``; it names the students.
    students : sequence of str
    """
    with database.read() as connection:
        rows = connection.execute(query).mappings().all()
    by_student: dict[str, list[sa.RowMapping]] = {}
    for row in rows:
        by_student.setdefault(row["student"], []).append(row)
    for student in students:
        yield by_student.pop(student, [])  # whoever has been yielded is in memory no longer


def _lost_race(error: StoreError) -> bool:
    """Return whether a write failed because another writer came first: a row of it, or its locks."""
    cause = error.__cause__
    if isinstance(cause, sa.exc.IntegrityError):
        return True
    state = getattr(getattr(cause, "orig", None), "sqlstate", None)
    return state in ("40001", "40P01")  # serialization failure, deadlock


def open_database(target: str | Path, *, busy_timeout_s: float = 30.0, migrate: bool = True) -> Database:
    """Open or create a store's database and bring its schema up to date.

    Parameters
    ----------
    target : str or Path
        A file's path, or a URL such as ``postgresql://user@host/softmark``.
    busy_timeout_s : float
        How long to wait for another writer.
    migrate : bool
        False leaves the schema as it is, to look at it or to copy it.

    Raises
    ------
    StoreError
        It can't be opened, isn't a store, or was made by a newer Softmark.
    """
    text = str(target)
    if "://" in text:
        server, where, patience = server_engine(text, busy_timeout_s)
        database = Database(server, where, patience=patience)
    else:
        engine, pace = sqlite_engine(Path(target), busy_timeout_s)
        database = Database(engine, text, pace)
    try:
        if migrate:
            bring_up_to_date(database)
    # A KeyboardInterrupt too must not leave connections open.
    except BaseException:
        database.close()
        raise
    return database
