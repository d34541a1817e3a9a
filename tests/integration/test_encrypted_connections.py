"""Connections to the database by TLS: who answers is checked, and a refusal says why and what to do next."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from engine.cluster.queue_tables import make_queue, open_queue_database, require_queue
from engine.errors import StoreError
from engine.store import open_store
from engine.store.postgres import server_fault, unverified_server
from tests.integration.test_cluster_command import GRADE, PATIENCE_S, ROOT
from tests.live.certificates import Authority
from tests.live.postgres import PASSWORD, Server, need_tls, server, server_programs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the tests' server runs on Linux")

NAME = "localhost"
ADDRESS = "127.0.0.1"


class TlsServer(Server):
    """A server on a port of this machine; who isn't on its socket must use TLS."""

    def __init__(self, programs: Path, folder: Path) -> None:
        with socket.socket() as found:
            found.bind((ADDRESS, 0))
            self.port = found.getsockname()[1]
        self.settings = self.settings | {
            "listen_addresses": ADDRESS, "port": str(self.port), "ssl": "on", "ssl_cert_file": "server.crt",
            "ssl_key_file": "server.key",
        }  # fmt: skip
        self.authority = Authority(folder, "ours")
        super().__init__(programs)

    def _prepare(self) -> None:
        self.use(*self.authority.sign(NAME))
        lines = "local all all scram-sha-256\nhostssl all all samehost scram-sha-256\n"
        (self.folder / "data" / "pg_hba.conf").write_text(lines)

    def use(self, certificate: bytes, key: bytes) -> None:
        """Answer with another certificate from now on."""
        for name, content in (("server.crt", certificate), ("server.key", key)):
            path = self.folder / "data" / name
            path.write_bytes(content)
            path.chmod(0o600)
            if self._user:
                shutil.chown(path, "nobody", "nogroup")
        if self._process is not None:
            self._process.send_signal(signal.SIGHUP)

    def url(self, database: str, *, user: str = "softmark", password: str = PASSWORD) -> str:
        return f"{super().url(database, user=user, password=password)}&port={self.port}"

    def network_url(
        self, database: str, *, host: str = NAME, password: str = PASSWORD, **query: object
    ) -> str:
        values = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
        return f"postgresql://softmark:{quote(password)}@{host}:{self.port}/{database}?{values}"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsServer]:
    programs = server_programs()
    assert programs is not None
    need_tls(programs)
    started = TlsServer(programs, tmp_path_factory.mktemp("authority"))
    try:
        yield started
    finally:
        started.close()


@pytest.fixture
def database(running: TlsServer) -> str:
    return running.new_database().partition("@/")[2].partition("?")[0]


def refusal(address: str) -> StoreError:
    with pytest.raises(StoreError) as refused:
        open_store(address).close()
    lines = " ".join(refused.value.lines())
    assert PASSWORD not in lines and quote(PASSWORD) not in lines
    return refused.value


def test_a_checked_server_holds_a_store_and_a_queue(running: TlsServer, database: str) -> None:
    address = running.network_url(database, sslmode="verify-full", sslrootcert=running.authority.certificate)
    with open_store(address) as store:
        assert store.upkeep.check().faults == ()
    queue = open_queue_database(address)
    make_queue(queue)
    require_queue(queue)
    with queue.read() as connection:
        used = connection.execute(
            sa.text("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        ).scalar()
    assert used is True
    queue.close()
    assert unverified_server(address) is None


def test_certificates_are_made_as_the_page_says(running: TlsServer, database: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "scaling.md").read_text()
    (block,) = re.findall(r"```bash\n(openssl .*?)```", page, re.DOTALL)
    script = block.replace("db.example.org", NAME)
    done = subprocess.run(["bash", "-euc", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    running.use((tmp_path / "server.crt").read_bytes(), (tmp_path / "server.key").read_bytes())
    try:
        until_answered(running.network_url(database, sslmode="verify-full", sslrootcert=tmp_path / "ca.crt"))
    finally:
        running.use(*running.authority.sign(NAME))
        until_answered(
            running.network_url(database, sslmode="verify-full", sslrootcert=running.authority.certificate)
        )


def until_answered(address: str) -> None:
    """Wait until the server has read its certificate again."""
    end = time.monotonic() + 30
    while True:
        try:
            return open_store(address).close()
        except StoreError:
            assert time.monotonic() < end


def test_another_authority_is_refused(running: TlsServer, database: str, tmp_path: Path) -> None:
    other = Authority(tmp_path, "other").certificate
    error = refusal(running.network_url(database, sslmode="verify-full", sslrootcert=other))
    assert (
        error.what == "the database server's certificate isn't signed by the authority that sslrootcert names"
    )
    assert error.next_step is not None and "somebody else answers" in error.next_step


def test_an_expired_certificate_is_refused(running: TlsServer, database: str) -> None:
    address = running.network_url(database, sslmode="verify-full", sslrootcert=running.authority.certificate)
    running.use(*running.authority.sign(NAME, days=-1))
    try:
        end = time.monotonic() + 30
        while True:
            try:
                open_store(address).close()
            except StoreError as error:
                refused = error
                break
            assert time.monotonic() < end
    finally:
        running.use(*running.authority.sign(NAME))
        until_answered(address)
    assert refused.what == "the database server's certificate has expired"
    assert refused.next_step is not None and "renew it" in refused.next_step


def test_a_certificate_of_another_host_is_refused(running: TlsServer, database: str) -> None:
    address = running.network_url(
        database, host=ADDRESS, sslmode="verify-full", sslrootcert=running.authority.certificate
    )
    error = refusal(address)
    assert error.what == "the database server's certificate is one of another host"
    assert error.got is not None and NAME in error.got and ADDRESS in error.got


def test_what_else_can_be_wrong_has_a_next_step(running: TlsServer, database: str, tmp_path: Path) -> None:
    junk = tmp_path / "junk.crt"
    junk.write_text("no certificate")
    for query, what in (
        (
            {"sslmode": "verify-full", "sslrootcert": tmp_path / "none.crt"},
            "the file of the certificate authority",
        ),
        ({"sslmode": "verify-full", "sslrootcert": junk}, "the file of the certificate authority"),
        ({"sslmode": "disable"}, "the database server takes encrypted connections only"),
    ):
        error = refusal(running.network_url(database, **query))
        assert error.what.startswith(what) and error.next_step is not None
    plain = server().url("postgres").partition("?")[0]
    assert (
        refusal(f"{plain}?host={quote(str(tmp_path), safe='')}").what
        == "the database server can't be reached"
    )


def test_a_server_without_encryption_is_refused_where_it_is_demanded() -> None:
    text = 'connection to server at "10.0.0.1" failed: server does not support SSL, but SSL was required'
    what, next_step = server_fault(None, text)
    assert "offers no encryption" in what and "ssl = on" in next_step


def test_a_worker_says_once_that_nobody_checks_who_answers(running: TlsServer, database: str) -> None:
    assert unverified_server("postgresql://w@db.example.org/course") is not None
    assert unverified_server("postgresql://w@db.example.org/course?sslmode=require") is not None
    assert unverified_server("postgresql://w@/course?host=10.1.2.3") is not None
    assert unverified_server("postgresql://w@[2001:db8::1]:5433/course") is not None
    for hosts in ("host=%2Frun&host=b:5433", "host=%2Frun,b:5433", "host=localhost:5432&host=b:5433"):
        assert "answers as b:5433, and" in str(unverified_server(f"postgresql://w@/course?{hosts}"))
    for address in (
        "postgresql://w@db.example.org/course?sslmode=verify-full&sslrootcert=ca.crt",
        "postgresql://w@localhost/course",
        "postgresql://w@[::1]/course",
        "postgresql://w@/course?host=%2Fvar%2Frun%2Fpostgresql",
        "postgresql://w@/course",
    ):
        assert unverified_server(address) is None


def test_a_password_is_never_shown(running: TlsServer, database: str, tmp_path: Path) -> None:
    """Neither in the address, nor in its query, nor from a file of passwords."""
    in_query = running.network_url(database, password="", password_=PASSWORD).replace(
        "password_=", "password="
    )
    where = open_queue_database(in_query).where
    assert PASSWORD not in where and quote(PASSWORD, safe="") not in where and "password" not in where
    words = tmp_path / "pgpass"
    escaped = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
    words.write_text(f"{NAME}:{running.port}:{database}:softmark:{escaped}\n")
    words.chmod(0o600)
    address = running.network_url(
        database, password="", sslmode="verify-full", sslrootcert=running.authority.certificate
    ).replace("softmark:@", "softmark@")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PG")} | {"PGPASSFILE": str(words)}
    queue = open_queue_database(running.url(database))
    make_queue(queue)
    queue.close()
    started = subprocess.Popen(
        [*GRADE, "worker", "--store", address, "--slots", "1", "--until-empty"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    shown = Path(f"/proc/{started.pid}/cmdline").read_text()
    printed, log = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 0, log
    assert printed == "0 programs graded in 0 chunks\n" and "not-verified" not in log
    assert PASSWORD not in shown + printed + log
    # Without the file the server refuses, and the next step names it.
    del environment["PGPASSFILE"]
    done = subprocess.run(
        [*GRADE, "worker", "--store", address], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S,
        env=environment | {"HOME": str(tmp_path / "nobody")},
    )  # fmt: skip
    assert done.returncode == 3 and "the database server refuses this account" in done.stderr
    assert ".pgpass" in done.stderr
