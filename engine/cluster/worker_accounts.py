"""Accounts for workers: which database role may work for which course, and that it may do nothing else.

The administrator makes the role (``createuser``); here it is given its rights. A role that may do more in
this database than a worker needs is refused: rights given elsewhere, or to everybody, would make the policies
of :mod:`engine.cluster.queue_policies` worth nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert as upsert

from engine.cluster.queue_policies import worker_grants
from engine.cluster.queue_tables import QUEUE_SCHEMA, courses, worker_accounts
from engine.cluster.queue_upgrades import quoted_name, run_text
from engine.errors import InputError, StoreError
from engine.store.database import Database
from engine.text.words import clean_line

# What a role may do that no worker needs, in the words of a message.
_TOO_MUCH = rf"""
WITH me AS (SELECT * FROM pg_roles WHERE rolname = :role),
here AS (SELECT * FROM pg_database WHERE datname = current_database()),
schemas AS (
    SELECT n.oid, n.nspname, has_schema_privilege(me.oid, n.oid, 'USAGE') AS is_open,
        has_schema_privilege(me.oid, n.oid, 'CREATE') AS takes_objects
    FROM pg_namespace n, me WHERE n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
),
facts AS (
    SELECT 1 AS place, 'it is a superuser' AS fact FROM me WHERE rolsuper
    UNION ALL SELECT 2, 'policies don''t bind it (BYPASSRLS)' FROM me WHERE rolbypassrls
    UNION ALL SELECT 3, 'it may make roles' FROM me WHERE rolcreaterole
    UNION ALL SELECT 4, 'it may make databases' FROM me WHERE rolcreatedb
    UNION ALL SELECT 5, 'it may copy the whole server (REPLICATION)' FROM me WHERE rolreplication
    UNION ALL SELECT 6, 'it is a member of the role ' || quote_ident(g.rolname)
        FROM me JOIN pg_auth_members m ON m.member = me.oid JOIN pg_roles g ON g.oid = m.roleid
    UNION ALL SELECT 7, 'the database is its own' FROM me, here WHERE here.datdba = me.oid
    UNION ALL SELECT 8, 'it may make objects in the schema ' || quote_ident(s.nspname)
        || ' (as its owner: REVOKE CREATE ON SCHEMA ' || quote_ident(s.nspname)
        || ' FROM PUBLIC, ' || quote_ident(me.rolname) || ')'
        FROM schemas s, me WHERE s.takes_objects
    UNION ALL SELECT 9, 'it may make schemas or temporary tables (as the owner of the database: '
        || 'REVOKE CREATE, TEMPORARY ON DATABASE ' || quote_ident(here.datname)
        || ' FROM PUBLIC, ' || quote_ident(me.rolname) || ')'
        FROM here, me WHERE has_database_privilege(me.oid, here.oid, 'CREATE, TEMPORARY')
    -- In a schema that it may not use, rights to a table are worth nothing.
    UNION ALL SELECT 10, format('it has rights to the table %I.%I', s.nspname, c.relname)
        FROM pg_class c JOIN schemas s ON s.oid = c.relnamespace, me
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND s.is_open
        AND (s.nspname <> '{QUEUE_SCHEMA}' OR c.relowner = me.oid)
        AND (has_table_privilege(me.oid, c.oid, 'DELETE, TRUNCATE, TRIGGER')
            OR has_any_column_privilege(me.oid, c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))
)
SELECT fact FROM facts ORDER BY place, fact LIMIT 6
"""


def allow_worker(database: Database, role: str, course: str, *, drawing: bool = False) -> None:
    """Let a database role work for a course that is registered in the queue, and nothing else.

    Parameters
    ----------
    database : Database
        Opened by the owner of the queue.
    role : str
    course : str
        Fingerprint of its secret.
    drawing : bool
        Whether it may draw the course's quizzes too, which shows it the keys of their items.

    Raises
    ------
    InputError
        There is no such role, or it may do more than a worker needs; nothing was changed.
    StoreError
        This account may not give rights to the queue.
    """

    def change(connection: sa.Connection) -> None:
        _require_role(connection, role)
        name, base = quoted_name(role), _database(connection)
        # Everybody has these by default, in public before PostgreSQL 15; Softmark's database is its own.
        statements = (
            "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
            f"REVOKE CREATE, TEMPORARY ON DATABASE {base} FROM PUBLIC",
            f"GRANT CONNECT ON DATABASE {base} TO {name}",
            *worker_grants(name),
        )
        _run(connection, statements)
        too_much = _too_much(connection, role)
        if too_much:
            raise InputError(
                f"the role {clean_line(role)} may do more than a worker needs",
                where=database.where,
                got="; ".join(too_much),
                next_step="make a role for workers alone (createuser --pwprompt NAME), or take these away",
            )
        values = {"role": role, "course": course, "drawing": drawing}
        same = [worker_accounts.c.role, worker_accounts.c.course]
        statement = upsert(worker_accounts).values(values)
        connection.execute(statement.on_conflict_do_update(index_elements=same, set_={"drawing": drawing}))

    database.change(change)


def withdraw_worker(database: Database, role: str, course: str | None = None) -> int:
    """Let a role work for a course no longer, or for none; return for how many it could.

    It counts at once, also for a worker that runs. A role that is left with no course keeps no right either,
    so that it can be dropped.

    Raises
    ------
    InputError
        There is no such role.
    """

    def change(connection: sa.Connection) -> int:
        _require_role(connection, role)
        mine = sa.delete(worker_accounts).where(worker_accounts.c.role == role)
        if course is not None:
            mine = mine.where(worker_accounts.c.course == course)
        count = int(connection.execute(mine).rowcount)
        left = sa.select(sa.func.count()).where(worker_accounts.c.role == role)
        if not connection.execute(left).scalar():
            rights = (
                f"ALL TABLES IN SCHEMA {QUEUE_SCHEMA}",  # and their columns
                f"ALL SEQUENCES IN SCHEMA {QUEUE_SCHEMA}",
                f"SCHEMA {QUEUE_SCHEMA}",
                f"DATABASE {_database(connection)}",
            )
            _run(connection, (f"REVOKE ALL ON {right} FROM {quoted_name(role)}" for right in rights))
        return count

    withdrawn = database.change(change)
    with suppress(StoreError):
        database.change(lambda connection: _free_jobs(connection, role, course))
    return withdrawn


_FREE_JOBS = sa.text(
    "UPDATE procrastinate_jobs SET status = 'todo', attempts = least(attempts, 1000000) + 1"
    " WHERE status = 'doing' AND queue_name LIKE :name"
    " AND worker_id IN (SELECT id FROM procrastinate_workers w WHERE w.role = :role)"
)


def _free_jobs(connection: sa.Connection, role: str, course: str | None) -> None:
    """Let wait again what a role's workers have in hand: they may live on for another course."""
    # After the rights are gone: what the role has locked mustn't keep anybody from taking them away.
    connection.execute(sa.text("SET LOCAL lock_timeout = '2s'"))
    connection.execute(_FREE_JOBS, {"role": role, "name": "%" if course is None else f"{course}.%"})


def worker_roles(database: Database) -> list[tuple[str, str, str, bool]]:
    """Return the roles that may work: each with a course's id and title, and whether it may draw for it."""
    query = (
        sa.select(worker_accounts.c.role, courses.c.id, courses.c.title, worker_accounts.c.drawing)
        .join(courses, courses.c.id == worker_accounts.c.course)
        .order_by(worker_accounts.c.role, courses.c.title, courses.c.id)
    )
    with database.read() as connection:
        return [(row.role, row.id, row.title, row.drawing) for row in connection.execute(query)]


def _require_role(connection: sa.Connection, role: str) -> None:
    query = sa.text("SELECT rolcanlogin FROM pg_roles WHERE rolname = :role")
    if connection.execute(query, {"role": role}).scalar() is None:
        raise InputError(
            f"there is no role {clean_line(role)} on the database server",
            next_step="make it, with a password of its own: createuser --pwprompt NAME",
        )


def _too_much(connection: sa.Connection, role: str) -> list[str]:
    values = {"role": role}
    return [*connection.execute(sa.text(_TOO_MUCH), values).scalars()]


def _run(connection: sa.Connection, statements: Iterable[str]) -> None:
    for statement in statements:
        run_text(connection, statement)


def _database(connection: sa.Connection) -> str:
    return quoted_name(str(connection.execute(sa.text("SELECT current_database()")).scalar()))
