"""The queue's tables: a schema of its own, beside a store's or not, made by whoever uses the queue first.

Nothing in it names a student. A program is known by the course, a number that only the course can turn back
into a student, and its hash; so an account for workers can be given these tables and nothing of the store.
"""

from __future__ import annotations

import time
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from engine.cluster.queue_policies import QUEUE_POLICIES
from engine.cluster.queue_upgrades import (
    may_upgrade,
    queue_owner,
    quoted_name,
    run_text,
    upgrade_tables,
)
from engine.errors import StoreAwayError, StoreError
from engine.store.database import Database
from engine.store.postgres import is_locked, server_engine
from engine.text.words import clean_line, join_words

QUEUE_SCHEMA = "softmark_queue"
QUEUE_VERSION = 3  # a new one needs a step in queue_upgrades
# Any number that nobody else on the server uses: whoever holds it makes the tables, or takes from the dead.
QUEUE_LOCK = 0x50F73A22
_BUSY_TIMEOUT_S = 30.0
_UPGRADE_TRIES, _UPGRADE_REST_S = 20, 0.5

# By the catalogues, which an account without any right to the schema may read too.
_RIGHTS = sa.text(
    "SELECT pg_get_userbyid(c.relowner) AS owner, pg_has_role(c.relowner, 'USAGE') AS is_ours,"
    " has_schema_privilege(n.oid, 'USAGE') AS is_open, current_user AS account"
    " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    f" WHERE n.nspname = '{QUEUE_SCHEMA}' AND c.relname = 'softmark_queue_version'"
)
# Accounts of several courses may each be members of the role that owns the queue's database.
_DATABASE_OWNER = sa.text(
    "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()"
    f" AND pg_has_role(datdba, 'USAGE') AND to_regnamespace('{QUEUE_SCHEMA}') IS NULL"
)

_OBJECTS = sa.text(
    "SELECT relname FROM pg_class"
    f" WHERE relnamespace = to_regnamespace('{QUEUE_SCHEMA}') AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f')"
    " ORDER BY relname"
)

queue_metadata = sa.MetaData()

queue_version = sa.Table(
    "softmark_queue_version",
    queue_metadata,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
)

# One row for each course that hands work over; ids are fingerprints of the courses' secrets.
courses = sa.Table(
    "courses",
    queue_metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("weight", sa.Integer, nullable=False, server_default="1"),
    sa.Column("paused", sa.Boolean, nullable=False, server_default=sa.false()),
    # Where the course's last chunk ends in the common order of batches: see work_queue._shares.
    sa.Column("line_end", sa.BigInteger, nullable=False, server_default="0"),
    sa.CheckConstraint("weight BETWEEN 1 AND 1000", name="weight_in_range"),
)

# Database roles that may work for a course without being able to do anything else: see queue_policies.
worker_accounts = sa.Table(
    "worker_accounts",
    queue_metadata,
    sa.Column("role", sa.String(63), primary_key=True),  # as long as PostgreSQL's names
    sa.Column("course", sa.ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True),
    # Whether it may draw the course's quizzes, which shows it the keys of their items.
    sa.Column("drawing", sa.Boolean, nullable=False, server_default=sa.false()),
)

# What an item's judging depends on, and nothing else of the course.
queued_items = sa.Table(
    "items",
    queue_metadata,
    sa.Column("course", sa.ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("item", sa.String(64), primary_key=True),
    sa.Column("version", sa.String(128), primary_key=True),
    sa.Column("seed", sa.String(64), nullable=False),  # of this item's hidden plan only, hexadecimal
    sa.Column("files", sa.Text, nullable=False),  # JSON: path in the item's folder → SHA-256
    sa.Column("drawn", sa.Boolean, nullable=False, server_default=sa.false()),  # published to draw a quiz
)

item_files = sa.Table(
    "item_files",
    queue_metadata,
    sa.Column("course", sa.ForeignKey("courses.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)

programs = sa.Table(
    "programs",
    queue_metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("course", sa.String(32), nullable=False),
    sa.Column("student", sa.String(32), nullable=False),  # a pseudonym
    sa.Column("item", sa.String(64), nullable=False),
    sa.Column("version", sa.String(128), nullable=False),
    sa.Column("submission", sa.String(64), nullable=False),
    sa.Column("mode", sa.String(16), nullable=False),
    sa.Column("run", sa.String(32), nullable=False),  # who collects the report
    sa.Column("queue", sa.String(128), nullable=False),
    sa.Column("interactive", sa.Boolean, nullable=False),
    sa.Column("code", sa.Text, nullable=False),  # JSON of model.CodeSubmission
    # Workers that died with it in hand, and those that couldn't grade it. Workers write them, so that others
    # must be able to count on: see work_queue.MOST_COUNTED.
    sa.Column("losses", sa.Integer, nullable=False, server_default="0"),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
    # The workers that tried it in vain, so that others come first; as long as names in `workers`.
    sa.Column("tried_by", ARRAY(sa.String(200)), nullable=False, server_default=sa.text("'{}'")),
    # Its student's programs run out of time: they are graded one at a time. See work_queue._without_slow.
    sa.Column("one_by_one", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("handed_over", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    # One program has one report, whoever hands it over and however often.
    sa.UniqueConstraint(
        "course", "student", "item", "submission", "version", "mode", name="uq_programs_submission"
    ),
    sa.ForeignKeyConstraint(
        ["course", "item", "version"],
        ["items.course", "items.item", "items.version"],
        name="fk_programs_item",
        ondelete="CASCADE",
    ),
    sa.CheckConstraint("losses BETWEEN 0 AND 100 AND tries BETWEEN 0 AND 100", name="counts_in_range"),
    sa.CheckConstraint("cardinality(tried_by) <= 100", name="tried_by_few"),
    sa.Index("ix_programs_run", "run"),
)

# The first report counts: a second one finds the row there and is dropped.
reports = sa.Table(
    "reports",
    queue_metadata,
    sa.Column("program", sa.ForeignKey("programs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("report", sa.Text),  # JSON of model.GradeReport; none where it was set aside
    sa.Column("reason", sa.Text),
    sa.Column("worker", sa.String(200), nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("handed_in", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
)

# What procrastinate_workers doesn't know of a worker.
workers = sa.Table(
    "workers",
    queue_metadata,
    sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("slots", sa.Integer, nullable=False),
    sa.Column("tier", sa.String(8), nullable=False),
    sa.Column("engine", sa.String(32), nullable=False),
    sa.Column("packages", sa.String(16), nullable=False),
    sa.Column("draining", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("graded", sa.BigInteger, nullable=False, server_default="0"),
    # Reports handed in, each counting less the longer ago it was, as of a moment: see queue_state.pace.
    sa.Column("recent", sa.Double, nullable=False, server_default="0"),
    sa.Column("recent_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    sa.Column("fault", sa.Text),
    sa.Column("started", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    sa.CheckConstraint("tier IN ('T1', 'T2', 'T3')", name="known_tier"),
)


def open_queue_database(address: str) -> Database:
    """Return the connections to the queue at an address; its tables must be there (:func:`make_queue`).

    Raises
    ------
    StoreError
        The address isn't one of a PostgreSQL server, or the driver isn't installed.
    """
    if "://" not in address:
        raise StoreError(
            "the queue needs a PostgreSQL server",
            where=address,
            expected="postgresql://user@host/name",
            next_step="see docs/scaling.md; without a server, `grade batch` uses all cores of this machine",
        )
    # Procrastinate's functions name its tables without a schema. Nothing of the store's is in reach.
    engine, where, patience = server_engine(address, _BUSY_TIMEOUT_S, QUEUE_SCHEMA)
    return Database(engine, where, None, patience)


def make_queue(database: Database) -> int:
    """Make the queue's tables or bring them up to date, all of it or nothing.

    What waits in a queue of an older version stays in it, and workers of that version may run meanwhile. New
    tables belong to the database's owner where this account has the rights of that role, else to the
    account.

    Returns
    -------
    int
        The version that was there: 0 where there was no queue, :data:`QUEUE_VERSION` where nothing changed.

    Raises
    ------
    StoreError
        The account may not, the queue is another one's, or a newer version of Softmark made it.
    """
    with database.read() as connection:
        rights = connection.execute(_RIGHTS).one_or_none()
        if rights is not None:
            version = version_of(connection) if rights.is_open else None
            if not rights.is_ours and version in (None, QUEUE_VERSION):
                raise _other_owner(rights, database.where)
            if version == QUEUE_VERSION:
                return QUEUE_VERSION
    for tries_left in reversed(range(_UPGRADE_TRIES)):
        try:
            return database.change(lambda connection: _make(connection, database.where))
        except StoreError as error:
            if not (tries_left and is_locked(error)):
                raise
            time.sleep(_UPGRADE_REST_S)
    raise AssertionError("the last try returns or raises")


def _make(connection: sa.Connection, where: str) -> int:
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(QUEUE_LOCK)))
    version = version_of(connection)  # somebody else may have been first while we waited
    if version is None:
        from procrastinate.schema import SchemaManager

        owner = connection.execute(_DATABASE_OWNER).scalar()
        if owner is not None:
            run_text(connection, f"SET LOCAL ROLE {quoted_name(owner)}")
        _require_free_schema(connection, where)
        run_text(connection, SchemaManager.get_schema())
        queue_metadata.create_all(connection)
        run_text(connection, QUEUE_POLICIES)
        connection.execute(sa.insert(queue_version).values(version=QUEUE_VERSION))
        return 0
    if version != QUEUE_VERSION:
        if version > QUEUE_VERSION or not may_upgrade(connection):
            raise _other_version(connection, version, where)
        upgrade_tables(connection, version, QUEUE_VERSION, where)
    return version


def _require_free_schema(connection: sa.Connection, where: str) -> None:
    """Make the schema, or take an empty one that somebody has made for an account without that right."""
    names = connection.execute(_OBJECTS).scalars().all()
    if names:
        raise StoreError(
            f"the schema {QUEUE_SCHEMA} of this database has tables that aren't the queue's",
            where=where,
            got=join_words(map(clean_line, names), limit=5),
            next_step="give the queue a database of its own (queue: in course.yaml), or have the owner of "
            "these tables rename their schema",
        )
    if connection.execute(sa.select(sa.func.to_regnamespace(QUEUE_SCHEMA))).scalar() is None:
        connection.execute(sa.text(f"CREATE SCHEMA {QUEUE_SCHEMA}"))


def require_queue(database: Database) -> None:
    """Do nothing where this account can use the queue.

    Raises
    ------
    StoreAwayError
        The queue isn't there yet, not upgraded yet, or closed to this account: others can change that.
    StoreError
        Whatever else is in the way.
    """
    usage = sa.func.has_schema_privilege(QUEUE_SCHEMA, "USAGE")
    with database.read() as connection:
        schema = connection.execute(sa.select(sa.func.to_regnamespace(QUEUE_SCHEMA))).scalar()
        if schema is not None and not connection.execute(sa.select(usage)).scalar():
            raise StoreAwayError(
                "this account may grade for no course",
                where=database.where,
                next_step="have the course's owner allow it: grade worker allow ROLE --course FOLDER",
            )
    with database.read() as connection:
        version = version_of(connection)
        if version not in (None, QUEUE_VERSION):
            raise _other_version(connection, version, database.where)
    if version is None:
        raise StoreAwayError(
            "there is no queue in this database yet",
            where=database.where,
            next_step="make it with the course's own account: `grade worker allow ROLE`, `grade queue new`, "
            "or the first `grade batch … --cluster`",
        )


def require_owner(database: Database) -> None:
    """Raise a :class:`StoreError` where there is a queue that this account may not look after."""
    with database.read() as connection:
        rights = connection.execute(_RIGHTS).one_or_none()
    if rights is None or rights.is_ours:
        return
    if not rights.is_open:
        raise _other_owner(rights, database.where)
    raise StoreError(
        "this account may grade, and not look after the queue",
        where=database.where,
        next_step="use the address of the course's own account, or --course with its folder",
    )


def _other_owner(rights: sa.Row[Any], where: str) -> StoreError:
    owner = clean_line(rights.owner)
    return StoreError(
        "the queue belongs to another account",
        where=where,
        expected=f"the account {owner}, or a member of that role",
        got=f"the account {clean_line(rights.account)}",
        next_step="have a role own the queue of which the account of each course is a member: "
        "docs/scaling.md, Several courses, one queue",
    )


def version_of(connection: sa.Connection) -> int | None:
    """Return the version of the queue's tables; None where there is no queue that this account may see."""
    name = sa.func.to_regclass(f"{QUEUE_SCHEMA}.{queue_version.name}")
    if connection.execute(sa.select(name)).scalar() is None:
        return None
    return int(connection.execute(sa.select(sa.func.max(queue_version.c.version))).scalar_one())


def _other_version(connection: sa.Connection, version: int, where: str) -> StoreError:
    if version > QUEUE_VERSION:
        what, next_step = "a newer", "install on this machine the version of Softmark that the others have"
    elif may_upgrade(connection):
        what, next_step = "an older", "upgrade it, by which nothing in it is lost: grade queue new"
    else:
        owner = clean_line(queue_owner(connection))
        what = "an older"
        next_step = (
            f"have the owner of its tables, {owner}, upgrade it: grade queue new. Nothing in it is lost"
        )
    kind = StoreError if version > QUEUE_VERSION else StoreAwayError
    return kind(
        f"the queue is that of {what} version of Softmark",
        where=where,
        expected=f"version {QUEUE_VERSION} of the queue's tables",
        got=f"version {version}",
        next_step=next_step,
    )
