"""A store on a PostgreSQL server: its address and its connections."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from engine.errors import StoreError

__all__ = ["server_engine"]

# A host that doesn't answer is told soon, a server that vanished (network, power) within a minute.
_PATIENCE = {
    "connect_timeout": "10",
    "keepalives_idle": "20",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}

# A server that answers before its disk has a commit would lose the newest marks when it crashes.
_DURABLE = """
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""


def server_engine(text: str, busy_timeout_s: float) -> tuple[sa.Engine, str]:
    """Return the connections to the server at an address, and the address without its password.

    Nothing is connected yet. Parameters in the address (``?connect_timeout=60``) stand above our own.

    Raises
    ------
    StoreError
        The address can't be read, or its driver isn't installed.
    """
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError) as error:
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
    url = url.update_query_dict({k: v for k, v in _PATIENCE.items() if k not in url.query})
    try:
        engine = sa.create_engine(url, pool_pre_ping=True)
    except (ImportError, sa.exc.NoSuchModuleError) as error:
        raise StoreError(
            "the driver for this database isn't installed",
            where=where,
            got=str(error),
            next_step="pip install 'softmark[postgres]'",
        ) from error

    @sa.event.listens_for(engine, "connect")
    def on_connect(connection: Any, _record: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {int(busy_timeout_s * 1000)}")
            cursor.execute(_DURABLE)
        connection.commit()

    return engine, where
