"""A store on a PostgreSQL server: its address, its connections, and what its faults mean.

A teacher whose server is down needs a next step, not a SQLSTATE: :func:`server_fault` turns what the driver
says into a sentence and what to do.
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa

from engine.errors import StoreError

# A host that doesn't answer is reported within 10 s, a server that vanished (network, power) within a minute.
_PATIENCE = {
    "connect_timeout": "10",
    "keepalives_idle": "20",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    # For what was sent and never confirmed: keepalives don't look at it, and TCP waits a quarter of an hour.
    "tcp_user_timeout": "50000",
}

# A server that confirms commits before they are on its disk would lose the newest marks when it crashes.
_DURABLE = """
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""


def server_engine(text: str, busy_timeout_s: float) -> tuple[sa.Engine, str]:
    """Return the connections to the server at an address, and the address without its password.

    Nothing is connected yet. Parameters in the address (``?connect_timeout=60``) override ours.

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
        # Pre-ping: a connection that the server closed meanwhile is replaced instead of failing a command.
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


NOTHING_LOST = "nothing that was stored before is lost"
_UNREACHABLE = (
    "the database server can't be reached",
    f"check that the server runs and that its address is right, and run again: {NOTHING_LOST}",
)
_LOST = (
    "the connection to the database server was lost",
    f"check that the server runs, and run again: {NOTHING_LOST}",
)
_ACCOUNT = (
    "the database server refuses this account",
    "check user and password in the address, in PGPASSWORD or in ~/.pgpass",
)
_MISSING = (
    "this database doesn't exist on the server",
    "make it with: createdb NAME, or check the name in the address",
)
_BUSY = (
    "the store is locked by another program",
    "wait for the other `grade` command to end, or see in pg_stat_activity who holds it, and run again",
)
_READ_ONLY = ("the database is read-only", f"give the address of a server that takes writes; {NOTHING_LOST}")
_RIGHTS = (
    "this account may not do that in the database",
    "let the account make and change tables: make it the database's owner",
)
_FULL = ("the server's disk is full", f"make room there and run again: {NOTHING_LOST}")
_CROWDED = ("the server takes no more connections", "wait until others have ended, and run again")
_DAMAGED = ("the server says that its data are damaged", "stop, and restore a backup: grade store copy")
_OTHER = (
    "the database refused the request",
    "check that the server runs and that the account may write, and run again",
)

# By SQLSTATE, or its class (two characters): https://www.postgresql.org/docs/current/errcodes-appendix.html
_BY_STATE = {
    "08": _LOST,
    "25006": _READ_ONLY,
    "28": _ACCOUNT,
    "3D": _MISSING,
    "42501": _RIGHTS,
    "53100": _FULL,
    "53300": _CROWDED,
    "55P03": _BUSY,
    "57P": _LOST,
    "XX": _DAMAGED,
}

# While a connection is being made there is no SQLSTATE yet, only a text.
_BY_WORDS = (
    (
        r"password authentication failed|no password supplied|no pg_hba\.conf entry|role .* does not exist",
        _ACCOUNT,
    ),
    (r"database .* does not exist", _MISSING),
    (r"too many (clients|connections)|connection slots are reserved", _CROWDED),
    (r"server closed the connection|connection (was|is) (lost|closed)|terminating connection", _LOST),
    (
        r"connection (failed|is bad|refused|timeout)|failed to resolve|could not (connect|translate)|"
        r"starting up|shutting down|timeout expired",
        _UNREACHABLE,
    ),
)


def server_fault(state: str | None, text: str) -> tuple[str, str]:
    """Return the fault and the next step.

    Parameters
    ----------
    state : str or None
        SQLSTATE, if there is one.
    text : str
        The driver's message.
    """
    if state:
        for length in (5, 3, 2):  # the code itself, then ever wider classes of codes
            if state[:length] in _BY_STATE:
                return _BY_STATE[state[:length]]
    return next((fault for words, fault in _BY_WORDS if re.search(words, text, re.IGNORECASE)), _OTHER)
