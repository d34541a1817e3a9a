"""Procrastinate's job manager inside a transaction of ours.

Procrastinate opens connections of its own, so that a job and what belongs to it would be two transactions: a
worker killed in between would leave a finished job without its reports, or reports of a job that is done once
more. Here its queries run in the transaction that the caller is in, and all of it is committed or none.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

import sqlalchemy as sa
from procrastinate.connector import BaseConnector
from procrastinate.manager import JobManager
from psycopg.types.json import Jsonb

T = TypeVar("T")


class TransactionConnector(BaseConnector):
    """Runs Procrastinate's queries on one connection; the caller commits.

    Parameters
    ----------
    connection : sqlalchemy.Connection
    """

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def get_sync_connector(self) -> BaseConnector:
        """Return this connector, which never waits for an event loop."""
        return self

    def execute_query(self, query: str, **arguments: Any) -> None:
        """Run a query that returns nothing."""
        self._run(query, arguments)

    def execute_query_one(self, query: str, **arguments: Any) -> dict[str, Any]:
        """Return the one row of a query."""
        return dict(self._run(query, arguments).mappings().one())

    def execute_query_all(self, query: str, **arguments: Any) -> list[dict[str, Any]]:
        """Return the rows of a query."""
        return [dict(row) for row in self._run(query, arguments).mappings()]

    async def execute_query_async(self, query: str, **arguments: Any) -> None:
        """Run a query that returns nothing."""
        self._run(query, arguments)

    async def execute_query_one_async(self, query: str, **arguments: Any) -> dict[str, Any]:
        """Return the one row of a query."""
        return self.execute_query_one(query, **arguments)

    async def execute_query_all_async(self, query: str, **arguments: Any) -> list[dict[str, Any]]:
        """Return the rows of a query."""
        return self.execute_query_all(query, **arguments)

    def _run(self, query: str, arguments: dict[str, Any]) -> sa.CursorResult[Any]:
        values = {name: _wrapped(value) for name, value in arguments.items()}
        return self._connection.exec_driver_sql(query, values)


def job_manager(connection: sa.Connection) -> JobManager:
    """Return Procrastinate's job manager for the transaction of a connection."""
    return JobManager(TransactionConnector(connection))


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine of the job manager returns; with our connector it never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    work.close()
    raise RuntimeError("the job manager waited for an event loop")


def _wrapped(value: Any) -> Any:
    # The driver doesn't turn mappings into JSON by itself, nor inside the rows of a list.
    if isinstance(value, dict):
        return Jsonb(value)
    if isinstance(value, tuple):
        return tuple(_wrapped(entry) for entry in value)
    return [_wrapped(entry) for entry in value] if isinstance(value, list) else value
