"""A store on a PostgreSQL server: its address, its connections, and what its faults mean.

A teacher whose server is down needs a next step, not a SQLSTATE: :func:`server_fault` turns what the driver
says into a sentence and what to do.
"""

from __future__ import annotations

import os
import re
import struct
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from engine.errors import StoreError
from engine.text.words import join_words

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
_DURABLE = """set_config('synchronous_commit',
coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), {is_local})"""


_SECRETS = ("password", "sslpassword")
_ENCODING = "UTF8"

# A new connection takes milliseconds; psycopg waits two seconds at least.
_CONNECT_S = 5


@dataclass
class ServerPatience:
    """How long the server may take to answer, for connections that are made from now on.

    A server that hangs (a stopped process, a frozen disk) keeps its connections open and says nothing: its
    own ``statement_timeout`` hangs with it, and TCP sees nothing wrong. So the time is taken here too.

    Parameters
    ----------
    seconds : float or None
        None waits for ever: commands may migrate, copy and erase.
    """

    seconds: float | None = None

    def settings(self, busy_timeout_s: float) -> dict[str, int]:
        """Return the server's own limits in milliseconds: shorter, because it says more than a silence."""
        locks = int(busy_timeout_s * 1000)
        if self.seconds is None:
            return {"lock_timeout": locks}
        statements = int(self.seconds * 900)
        return {"lock_timeout": min(locks, statements * 3 // 4), "statement_timeout": statements}


def _impatient_class(patience: ServerPatience) -> Any:
    import psycopg

    class ImpatientConnection(psycopg.Connection[Any]):
        """A connection that is given up where the server says nothing for too long."""

        _pooled: bool | None = None

        def is_pooled(self) -> bool:
            """Return whether a pooler (PgBouncer) stands between, so that each transaction may have a session
            of its own: settings hold for one transaction only, and nobody can listen for notices."""
            if self._pooled is None:
                # When connecting, a pooler tells a number of its own invention for the server's process.
                (number,) = self.execute("SELECT pg_backend_pid()").fetchone() or (0,)
                self._pooled = number != self.info.backend_pid
            return self._pooled

        def wait(self, gen: Any, *arguments: Any, **more: Any) -> Any:
            limit = patience.seconds
            return super().wait(gen if limit is None else self._limited(gen, limit), *arguments, **more)

        def _limited(self, gen: Any, limit: float) -> Generator[Any, Any, Any]:
            # psycopg resumes what waits as soon as something arrives, and otherwise every 0.1 s with nothing.
            try:
                state = next(gen)
                heard = time.monotonic()
                while True:
                    ready = yield state
                    if ready:
                        heard = time.monotonic()
                    elif time.monotonic() - heard > limit:
                        self.pgconn.finish()  # half an answer may be on its way: nobody may use it again
                        raise psycopg.OperationalError(f"{_SILENT} for {limit:g} s")
                    state = gen.send(ready)
            except StopIteration as done:
                return done.value

    return ImpatientConnection


def server_engine(
    text: str, busy_timeout_s: float, search_path: str | None = None
) -> tuple[sa.Engine, str, ServerPatience]:
    """Return connections to the server at an address, that address without its password, and their patience.

    Nothing is connected yet. Parameters in the address (``?connect_timeout=60``) override ours.

    Parameters
    ----------
    text : str
    busy_timeout_s : float
        How long to wait for another writer.
    search_path : str, optional
        The schema whose tables are meant, where it isn't the usual one.

    Raises
    ------
    StoreError
        The address can't be read, or its driver isn't installed.
    """
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError) as error:
        raise StoreError(
            "the address of the database can't be read", expected="postgresql://user@host/name"
        ) from error
    # A password may be in the query too, which isn't hidden by itself.
    where = url.difference_update_query(_SECRETS).render_as_string(hide_password=True)
    if url.get_backend_name() == "sqlite":
        raise StoreError(
            "an SQLite store is given by its path", where=where, expected="a path without sqlite://"
        )
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    given_query = url.query
    url = url.update_query_dict({k: v for k, v in _PATIENCE.items() if k not in given_query})
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

    patience = ServerPatience()
    connection_class = _impatient_class(patience)

    @sa.event.listens_for(engine, "do_connect")
    def connect(_dialect: Any, _record: Any, arguments: Any, parameters: Any) -> Any:
        if patience.seconds is not None and "connect_timeout" not in given_query:
            parameters["connect_timeout"] = str(_CONNECT_S)
        # Neither PGCLIENTENCODING nor the role's own setting: names and programs have all characters.
        parameters["client_encoding"] = _ENCODING
        return connection_class.connect(*arguments, **parameters)

    @sa.event.listens_for(engine, "connect")
    def on_connect(connection: Any, _record: Any) -> None:
        encoding = connection.info.parameter_status("server_encoding")
        if encoding not in (None, _ENCODING):
            connection.close()
            raise StoreError(
                "this database can't hold every character",
                where=where,
                expected=f"the encoding {_ENCODING}",
                got=encoding,
                next_step="make one with: createdb --encoding UTF8 --template template0 NAME",
            )
        if connection.is_pooled():
            connection.prepare_threshold = None  # it would be prepared in somebody else's session
        else:
            with connection.cursor() as cursor:
                set_all(cursor.execute, is_local=False)
        connection.commit()

    @sa.event.listens_for(engine, "begin")
    def on_begin(connection: sa.Connection) -> None:
        driver: Any = connection.connection.driver_connection
        if driver.is_pooled():
            set_all(
                partial(connection.exec_driver_sql, execution_options={"no_parameters": True}), is_local=True
            )

    def set_all(execute: Callable[[str], Any], *, is_local: bool) -> None:
        values: dict[str, object] = {**patience.settings(busy_timeout_s)}
        if search_path is not None:
            values["search_path"] = search_path
        calls = [f"set_config('{name}', '{value}', {is_local})" for name, value in values.items()]
        execute(f"SELECT {', '.join([*calls, _DURABLE.format(is_local=is_local)])}")

    return engine, where, patience


NOTHING_LOST = "nothing that was stored before is lost"
_UNREACHABLE = (
    "the database server can't be reached",
    f"check that the server runs and that its address is right, and run again: {NOTHING_LOST}",
)
_NOT_LISTENING = (
    "the database server can't be reached",
    "check that the server runs, that its address is right, and that listen_addresses in its "
    f"postgresql.conf is open to other machines (docs/scaling.md): {NOTHING_LOST}",
)
_LOST = (
    "the connection to the database server was lost",
    f"check that the server runs, and run again: {NOTHING_LOST}",
)
_SILENT = "the server has been silent"
_SLOW = (
    "the database server doesn't answer",
    f"check that the server runs and isn't overloaded, and try again: {NOTHING_LOST}",
)
_ACCOUNT = (
    "the database server refuses this account",
    "check user and password in the address, in PGPASSWORD or in ~/.pgpass",
)
_ADDRESS = (
    "the address of the database server holds a setting that can't be used",
    "mend it: postgresql://user@host:5432/name?name=value, with names as PostgreSQL's clients know them",
)
_NOT_LET_IN = (
    "the database server doesn't let this account connect to this database from this machine",
    "have the server's administrator add a line for it to pg_hba.conf, and reload that (docs/scaling.md)",
)
_MISSING = (
    "this database doesn't exist on the server",
    "make it with: createdb NAME, or check the name in the address",
)
_BUSY = (
    "the store is locked by another program",
    "wait for the other `grade` command to end, or see in pg_stat_activity who holds it, and run again",
)
_READ_ONLY = (
    "the database is read-only",
    "give the address of a server that takes writes (this may be a standby), or have its administrator turn "
    f"default_transaction_read_only off for this database and account; {NOTHING_LOST}",
)
_RIGHTS = (
    "this account may not do that in the database",
    "let the account make and change tables: make it the database's owner. An account for workers gets its "
    "rights from the course: grade worker allow ROLE --course FOLDER",
)
_NO_CONNECT = (
    "this account may not connect to this database",
    "have the database's owner allow it: GRANT CONNECT ON DATABASE NAME TO ROLE. For an account for workers "
    "the course does: grade worker allow ROLE --course FOLDER",
)
_NO_LOGIN = (
    "this role may not log in",
    "have the server's administrator allow it (ALTER ROLE NAME LOGIN), or use another account",
)
_CLOSED = (
    "the database takes no connections",
    "ask the server's administrator why it is closed; it may be a standby, or be under maintenance: "
    f"{NOTHING_LOST}",
)
# Only the queue has such policies, for its workers: nobody should make one of these the owner of anything.
_POLICY = (
    "this account for workers may not write that",
    "have the course's owner give it its rights once more: grade worker allow ROLE --course FOLDER",
)
_FULL = ("the server's disk is full", f"make room there and run again: {NOTHING_LOST}")
_CROWDED = ("the server takes no more connections", "wait until others have ended, and run again")
_DAMAGED = ("the server says that its data are damaged", "stop, and restore a backup: grade store copy")
_DROPPED = (
    "the tables aren't in the database any more",
    "find out who dropped them, or restored a backup, and run again, which makes new ones",
)
_OTHER_AUTHORITY = (
    "the database server's certificate isn't signed by the authority that sslrootcert names",
    "ask the server's administrator for the file of the right authority; if yours is right, somebody else "
    "answers at this address. Nothing was sent to it",
)
_EXPIRED = (
    "the database server's certificate has expired",
    "have the server's administrator renew it, and check this machine's clock; nothing was sent to it",
)
_NOT_VERIFIED = (
    "the database server's certificate can't be verified",
    "check that sslrootcert names the file of its authority, and that it is in force; nothing was sent to it",
)
_OTHER_HOST = (
    "the database server's certificate is one of another host",
    "use a name in the address that the certificate has; if this one is right, somebody else answers there. "
    "Nothing was sent to it",
)
_NO_AUTHORITY = (
    "the file of the certificate authority can't be used",
    "name it in the address: ?sslmode=verify-full&sslrootcert=FILE (docs/scaling.md)",
)
_NO_TLS = (
    "the database server offers no encryption, and the address demands it",
    "have the server's administrator turn it on (ssl = on in postgresql.conf); nothing was sent to it",
)
_WANTS_TLS = (
    "the database server takes encrypted connections only",
    "add ?sslmode=verify-full&sslrootcert=FILE to the address (docs/scaling.md)",
)
_OTHER = (
    "the database refused the request",
    "check that the server runs and that the account may write, and run again",
)

# What passes without a change on this machine: the server starts up, or others have ended.
_PASSING = (_UNREACHABLE, _NOT_LISTENING, _LOST, _SLOW, _BUSY, _CROWDED)

# By SQLSTATE, or its class (two characters): https://www.postgresql.org/docs/current/errcodes-appendix.html
_BY_STATE = {
    "08": _LOST,
    "25006": _READ_ONLY,
    "28": _ACCOUNT,
    "3D": _MISSING,
    "42501": _RIGHTS,
    "42P01": _DROPPED,
    "53100": _FULL,
    "53300": _CROWDED,
    "55P03": _BUSY,
    "57014": _SLOW,
    "57P": _LOST,
    "XX": _DAMAGED,
}

# While a connection is being made there is no SQLSTATE yet, only a text.
_BY_WORDS = (
    (_SILENT, _SLOW),
    (r"invalid connection option|bad value for|invalid port number|invalid \S+ value", _ADDRESS),
    (r"certificate verify failed", _NOT_VERIFIED),
    (r"does not match host name", _OTHER_HOST),
    (r"root certificate file|system trust store", _NO_AUTHORITY),
    (r"server does not support SSL", _NO_TLS),
    (r"no pg_hba\.conf entry", _NOT_LET_IN),
    (r"permission denied for database", _NO_CONNECT),
    (r"is not permitted to log in", _NO_LOGIN),
    # "not yet accepting" is a server that recovers from a crash, and passes.
    (r"not (currently )?accepting connections", _CLOSED),
    (r"password authentication failed|no password supplied|role .* does not exist", _ACCOUNT),
    (r"database .* does not exist", _MISSING),
    (r"too many (clients|connections)|connection slots are reserved", _CROWDED),
    # PgBouncer's own.
    (r"no more connections allowed|query_wait_timeout", _CROWDED),
    (r"server closed the connection|connection (was|is) (lost|closed)|terminating connection", _LOST),
    (r"server at .*connection refused", _NOT_LISTENING),
    (
        r"connection (failed|is bad|refused|timeout)|failed to resolve|could not (connect|translate)|"
        r"starting up|shutting down|in recovery mode|not yet accepting connections|timeout expired",
        _UNREACHABLE,
    ),
)


def server_fault(state: str | None, text: str, where: str = "") -> tuple[str, str]:
    """Return the fault and the next step.

    Parameters
    ----------
    state : str or None
        SQLSTATE, if there is one.
    text : str
        The driver's message.
    where : str
        The address; without a password, which isn't needed to ask for a certificate.
    """
    if state == "42501" and "row-level security" in text:
        return _POLICY
    if state:
        for length in (5, 3, 2):  # the code itself, then ever wider classes of codes
            if state[:length] in _BY_STATE:
                return _BY_STATE[state[:length]]
    fault = next((fault for words, fault in _BY_WORDS if re.search(words, text, re.IGNORECASE)), _OTHER)
    if fault is _NOT_LET_IN and "no encryption" in text and _is_unencrypted(where):
        return _WANTS_TLS
    return _certificate_fault(where) if fault is _NOT_VERIFIED and where else fault


def passes_by_itself(fault: tuple[str, str]) -> bool:
    """Return whether a fault may be gone later though nobody changes the address or this machine."""
    return fault in _PASSING


def is_locked(error: StoreError) -> bool:
    """Return whether another transaction held what was asked for, for longer than one waits."""
    return getattr(getattr(error.__cause__, "orig", None), "sqlstate", None) == "55P03"


def is_missing(error: StoreError) -> bool:
    """Return whether a table, or the row that a new one belongs to, isn't there any more."""
    return getattr(getattr(error.__cause__, "orig", None), "sqlstate", None) in ("42P01", "3F000", "23503")


# What the server took in and won't have: values, rights (row-level security too), limits of its own.
_REFUSALS = ("22", "23", "42", "54")


def is_refused(error: StoreError) -> bool:
    """Return whether the server understood what it was to store, and would refuse it again."""
    state = str(getattr(getattr(error.__cause__, "orig", None), "sqlstate", None) or "")
    return state[:2] in _REFUSALS or isinstance(error.__cause__, sa.exc.DataError | UnicodeError)


def _is_unencrypted(where: str) -> bool:
    """Return whether an address tries no encryption, so that it may be this that the server refuses."""
    try:
        mode = sa.make_url(where).query.get("sslmode") if where else None
    except sa.exc.ArgumentError:
        mode = None
    # Any other mode tries TLS first, where the server has it.
    return str(mode or os.environ.get("PGSSLMODE", "prefer")) in ("disable", "allow")


_TLS_REQUEST = struct.pack("!ii", 8, 80877103)  # what clients of PostgreSQL send before they speak TLS
_PROBE_S = 5.0
_X509_EXPIRED = 10  # as OpenSSL counts what is wrong with a certificate


def _certificate_fault(where: str) -> tuple[str, str]:
    """Find out why a certificate was refused: the driver doesn't say, and the next steps differ."""
    import socket
    import ssl

    try:
        url = sa.make_url(where)
        place = (str(url.host or url.query["host"]), url.port or int(str(url.query.get("port", 5432))))
        file = str(url.query.get("sslrootcert", Path("~/.postgresql/root.crt").expanduser()))
        context = ssl.create_default_context(cafile=None if file == "system" else file)
        context.check_hostname = False
        with socket.create_connection(place, timeout=_PROBE_S) as plain:
            plain.sendall(_TLS_REQUEST)
            if plain.recv(1) == b"S":
                context.wrap_socket(plain).close()
    except ssl.SSLCertVerificationError as error:
        return _EXPIRED if error.verify_code == _X509_EXPIRED else _OTHER_AUTHORITY
    except (sa.exc.ArgumentError, KeyError, ValueError, OSError):
        pass  # whatever it was, the driver refused the certificate
    return _NOT_VERIFIED


def unverified_server(address: str) -> str | None:
    """Return a sentence where nobody checks who answers at an address; None where somebody does.

    On this machine there is nobody in between.
    """
    url = sa.make_url(address)
    place = url.host or url.query.get("host") or os.environ.get("PGHOST", "")
    # Several may be named, of which any may answer: host=a,b and host=a&host=b:5433.
    hosts = [name for text in ([place] if isinstance(place, str) else place) for name in text.split(",")]
    remote = [name for name in hosts if name and not name.startswith("/") and not _is_this_machine(name)]
    mode = str(url.query.get("sslmode") or os.environ.get("PGSSLMODE", "prefer"))
    if not remote or mode in ("verify-full", "verify-ca"):
        return None
    return (
        f"nobody checks who answers as {join_words(remote, 'or')}, and whoever does can read all and have "
        "code run here; add ?sslmode=verify-full&sslrootcert=FILE to the address (docs/scaling.md)"
    )


def _is_this_machine(host: str) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.partition(":")[0] in ("localhost", "127.0.0.1")
