"""All rows of one store into another, empty one, compared afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime

import sqlalchemy as sa

from engine.errors import StoreError
from engine.store.checking import count_rows
from engine.store.database import Database
from engine.store.tables import metadata

__all__ = ["copy_rows"]

_PAGE = 200


def copy_rows(source: Database, target: Database) -> Mapping[str, int]:
    """Copy one state of a store, whatever others write to it meanwhile; all of it or nothing.

    Returns
    -------
    mapping of str to int
        Rows by table.

    Raises
    ------
    StoreError
        The target isn't empty, or doesn't hold afterwards what the source held: it is then left empty.
    """
    with source.snapshot() as reading, target.write() as writing:
        if any(count_rows(writing).values()):
            raise StoreError(
                "the store to copy to isn't empty",
                where=target.where,
                next_step="copy to a new file or database; nothing was changed",
            )
        rows = {}
        for table in metadata.sorted_tables:
            copied = _copy(table, reading, writing)
            if copied != _digest(table, writing):
                raise StoreError(
                    f"the copy of {table.name} isn't what was copied",
                    where=target.where,
                    next_step="run it again; if it is told again, report it. The copy was taken back",
                )
            rows[table.name] = copied[0]
            if target.is_server and "id" in table.columns and table.autoincrement_column is not None:
                _go_on_counting(table, writing)
    return rows


def _copy(table: sa.Table, reading: sa.Connection, writing: sa.Connection) -> tuple[int, int]:
    count, digest = 0, 0
    found = reading.execute(sa.select(table).execution_options(yield_per=_PAGE))
    for page in found.mappings().partitions(_PAGE):
        writing.execute(sa.insert(table), [dict(row) for row in page])
        count += len(page)
        digest += sum(map(_hash, page))
    return count, digest


def _digest(table: sa.Table, connection: sa.Connection) -> tuple[int, int]:
    """Return the number of rows, and a sum over them: databases sort texts in different orders."""
    found = connection.execute(sa.select(table).execution_options(yield_per=_PAGE))
    count, digest = 0, 0
    for row in found.mappings():
        count += 1
        digest += _hash(row)
    return count, digest


def _hash(row: sa.RowMapping) -> int:
    plain = [v.astimezone(UTC).isoformat() if isinstance(v, datetime) else v for v in row.values()]
    return int.from_bytes(hashlib.sha256(repr(plain).encode("utf-8", "surrogatepass")).digest(), "big")


def _go_on_counting(table: sa.Table, connection: sa.Connection) -> None:
    """Let the server number new rows from where the copied ones end."""
    highest = sa.select(sa.func.coalesce(sa.func.max(table.c.id), 0) + 1).scalar_subquery()
    sequence = sa.func.pg_get_serial_sequence(table.name, "id")
    connection.execute(sa.select(sa.func.setval(sequence, highest, False)))
