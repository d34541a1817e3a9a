"""The version of a store's tables, and the way to the newest one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from engine.errors import StoreError
from engine.store.tables import SCHEMA_VERSION, VERSION_TABLE

if TYPE_CHECKING:
    from engine.store.database import Database

__all__ = ["bring_up_to_date", "schema_version"]

# Any number that nobody else on the server uses: whoever holds it migrates, the others wait.
_MIGRATING = 0x50F73A21


def bring_up_to_date(database: Database) -> None:
    """Make the tables, or apply the revisions that are missing; all of them or none.

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
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATING)))
        # Another process may have done it while we waited for the lock.
        if schema_version(connection, database.where) != SCHEMA_VERSION:
            _upgrade(connection, database.where)


def schema_version(connection: sa.Connection, where: str) -> str | None:
    """Return the revision of the store at `where`; None while it is empty.

    Raises
    ------
    StoreError
        The database has tables, but none of ours.
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
    found = schema_version(connection, where)
    if found is not None and found not in known:
        raise StoreError(
            "the store was made by a newer Softmark",
            where=where,
            expected=f"schema {SCHEMA_VERSION} or older",
            got=f"schema {found}",
            next_step="update Softmark with `pip install -U softmark`; the store is left as it is",
        )
    command.upgrade(config, "head")
