"""New SQLite stores without the migrations, which make the same tables each time and take most of the time.

Thousands of tests begin with an empty store. The first one of a process is migrated; later ones repeat the
statements that its tables were left with. A store that has tables already is migrated as always.
"""

from __future__ import annotations

import sqlalchemy as sa

import engine.store.database as database
from engine.store.sql_tables import VERSION_TABLE

__all__ = ["make_tables_quickly", "migrate", "replayed"]

migrate = database._upgrade
_statements: list[str] = []


def make_tables_quickly() -> None:
    """Let every new SQLite store of this process have its tables from a list of statements."""
    database._upgrade = replayed


def replayed(connection: sa.Connection, where: str) -> None:
    """Do what ``engine.store.database._upgrade`` does."""
    is_new = connection.dialect.name == "sqlite" and not sa.inspect(connection).get_table_names()
    if not is_new:
        migrate(connection, where)
        return
    if not _statements:
        migrate(connection, where)
        _statements.extend(_statements_of(connection))
        return
    for statement in _statements:
        connection.exec_driver_sql(statement)


def _statements_of(connection: sa.Connection) -> list[str]:
    """Return what makes the tables and indices of this database, and its version."""
    # an index that a constraint brings along has no statement
    made = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    tables = [str(row[0]) for row in connection.exec_driver_sql(made)]
    (version,) = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalars()
    return [*tables, f"INSERT INTO {VERSION_TABLE} VALUES ('{version}')"]
