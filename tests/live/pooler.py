"""PgBouncer in front of the tests' server: connections of many clients on few of the server's."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from tests.live.postgres import PASSWORD, server

__all__ = ["at_pooler", "pooler"]

_PATIENCE_S = 60.0


@contextmanager
def pooler(mode: str, *, size: int = 4) -> Iterator[str]:
    """Run one, and yield the folder of its socket; at most `size` connections of the server are used."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("CI must run everything: no PgBouncer (Debian and Ubuntu: apt-get install pgbouncer)")
        pytest.skip("no PgBouncer (Debian and Ubuntu: apt-get install pgbouncer)")
    folder = Path(tempfile.mkdtemp(prefix="softmark-pool-"))
    settings = {
        "listen_addr": "",
        "unix_socket_dir": folder,
        "auth_type": "plain",
        "auth_file": folder / "users",
        "pool_mode": mode,
        "default_pool_size": size,
        "logfile": folder / "log",
    }
    lines = [
        "[databases]",
        f"* = host={server().folder} port=5432 password='{PASSWORD}'",
        "[pgbouncer]",
        *(f"{name} = {value}" for name, value in settings.items()),
    ]
    (folder / "settings").write_text("\n".join(lines) + "\n")
    (folder / "users").write_text(f'"softmark" "{PASSWORD}"\n')
    user = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}  # it refuses to be root's
    for path in (folder, *folder.iterdir()) if user else ():
        shutil.chown(path, "nobody", "nogroup")
    process = subprocess.Popen(
        [program, "-q", folder / "settings"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **user,  # type: ignore[call-overload]
    )
    try:
        _wait(process, folder)
        yield str(folder)
    finally:
        process.terminate()
        process.wait(_PATIENCE_S)
        shutil.rmtree(folder)


def at_pooler(folder: str, database: str) -> str:
    """Return the address of a database through it."""
    place = quote(folder, safe="")
    return f"postgresql://softmark:{quote(PASSWORD)}@/{database}?host={place}&port=6432"


def _wait(process: subprocess.Popen[bytes], folder: Path) -> None:
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            psycopg.connect(at_pooler(str(folder), "postgres")).close()
            return
        except psycopg.OperationalError as error:
            log = folder / "log"
            said = log.read_text() if log.exists() else ""
            assert process.poll() is None and time.monotonic() < end, f"{error}\n{said}"
            time.sleep(0.05)
