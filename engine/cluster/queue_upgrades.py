"""From one version of the queue's tables to the next, while the queue is in use.

A step only adds: columns with a default, rights, another body of a function. So workers and courses of the
version before, which looked at the version when they began, go on with what they have in hand and hand it in;
only those that are started later are refused. Tables that a later version needs no more are dropped by the
step after that.

A step is written once, in SQL, and stays so, for :mod:`engine.cluster.queue_tables` goes on to change. A
text that it takes from :mod:`engine.cluster.queue_policies` is copied into it before that text changes. Where
a new version of Procrastinate has other tables, its migration is part of the step.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from engine.cluster.queue_policies import IN_HAND, WORK_POLICIES, WRITES, worker_grants
from engine.errors import StoreError

_OWNER: Final = sa.text(
    "SELECT pg_get_userbyid(relowner), pg_has_role(relowner, 'MEMBER') FROM pg_class"
    " WHERE oid = 'softmark_queue.softmark_queue_version'::regclass"
)

_ROLES: Final = sa.text(
    "SELECT DISTINCT role FROM softmark_queue.worker_accounts JOIN pg_roles ON rolname = role ORDER BY 1"
)
_SET_VERSION: Final = sa.text("UPDATE softmark_queue.softmark_queue_version SET version = :version")

# By the version that they make. Others wait while a step holds its tables; it gets all of them, or soon gives
# up and tries again (make_queue), before the server sees that a worker holds one and waits for another.
_STEPS: Final = {
    # 2 brought policies for workers' accounts; a queue of version 1 was never in use.
    3: f"""
SET LOCAL lock_timeout = '700ms';
LOCK TABLE softmark_queue.programs, softmark_queue.reports, softmark_queue.workers,
    softmark_queue.procrastinate_workers, softmark_queue.procrastinate_jobs IN ACCESS EXCLUSIVE MODE;
ALTER TABLE softmark_queue.programs
    ADD COLUMN tried_by varchar(200)[] NOT NULL DEFAULT '{{}}',
    ADD COLUMN one_by_one boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT tried_by_few CHECK (cardinality(tried_by) <= 100);
ALTER TABLE softmark_queue.worker_accounts ADD COLUMN drawing boolean NOT NULL DEFAULT false;
ALTER TABLE softmark_queue.items ADD COLUMN drawn boolean NOT NULL DEFAULT false;
DROP POLICY allowed ON softmark_queue.items;
DROP POLICY allowed ON softmark_queue.item_files;
DROP POLICY allowed ON softmark_queue.programs;
DROP POLICY counted ON softmark_queue.programs;
DROP POLICY allowed ON softmark_queue.procrastinate_jobs;
DROP POLICY put_back ON softmark_queue.procrastinate_jobs;
DROP POLICY claimed ON softmark_queue.procrastinate_jobs;
DROP POLICY finished ON softmark_queue.procrastinate_jobs;
DROP POLICY new ON softmark_queue.procrastinate_workers;
DROP POLICY own ON softmark_queue.procrastinate_workers;
DROP POLICY own ON softmark_queue.workers;
DROP POLICY after_all ON softmark_queue.reports;
{IN_HAND}{WRITES}{WORK_POLICIES}""",
}


def queue_owner(connection: sa.Connection) -> str:
    """Return the role to which the queue's tables belong."""
    return str(connection.execute(_OWNER).one()[0])


def may_upgrade(connection: sa.Connection) -> bool:
    """Return whether this account may change the queue's tables: as their owner, or in its place."""
    return bool(connection.execute(_OWNER).one()[1])


def upgrade_tables(connection: sa.Connection, version: int, newest: int, where: str) -> None:
    """Bring tables of one version to another, in the caller's transaction.

    Whoever upgrades holds :data:`engine.cluster.queue_tables.QUEUE_LOCK`.

    Raises
    ------
    StoreError
        There is no way from this version.
    """
    numbers = range(version + 1, newest + 1)
    if not all(number in _STEPS for number in numbers):
        raise StoreError(
            "this queue is too old to be upgraded",
            where=where,
            expected=f"version {min(_STEPS) - 1} of the queue's tables, or a later one",
            got=f"version {version}",
            next_step="collect what is in it with the version of Softmark that made it; then its owner can "
            "remove it: DROP SCHEMA softmark_queue CASCADE",
        )
    # What a superuser makes would be a superuser's, and closed to the owner.
    run_text(connection, f"SET LOCAL ROLE {quoted_name(queue_owner(connection))}")
    for number in numbers:
        run_text(connection, _STEPS[number])
    # Rights to new columns; a role that is gone from the server needs none.
    roles = (
        "SELECT DISTINCT role FROM softmark_queue.worker_accounts JOIN pg_roles ON rolname = role ORDER BY 1"
    )
    for (role,) in connection.execute(sa.text(roles)).all():
        for statement in worker_grants(quoted_name(role)):
            run_text(connection, statement)
    connection.execute(
        sa.text("UPDATE softmark_queue.softmark_queue_version SET version = :v"), {"v": newest}
    )


def run_text(connection: sa.Connection, text: str) -> None:
    """Run statements as they are written: several in one text, and a % is no place for a value."""
    connection.exec_driver_sql(text, execution_options={"no_parameters": True})


def quoted_name(name: str) -> str:
    """Return a name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
