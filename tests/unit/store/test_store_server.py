"""A PostgreSQL store that can't be used says why, loses nothing, and goes on when it can be used again."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import StoreError
from engine.model import GradeReport, Mode, Outcome
from engine.store import Attempt, Store, open_store
from engine.store.postgres import server_fault
from tests.live.postgres import PASSWORD, server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def attempt(number: int, source: str = "x") -> Attempt:
    report = GradeReport("softmax", "v", Outcome.RIGHT, 1.0, 1.0, mode=Mode.MARKS)
    return Attempt("ada", f"{number:064d}", report, NOW, NOW, source=source)


@pytest.fixture
def url() -> str:
    return server().new_store()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with open_store(url) as opened:
        yield opened


def fault_of(url: str) -> StoreError:
    with pytest.raises(StoreError) as caught:
        open_store(url, busy_timeout_s=0.2)
    told = str(caught.value)
    assert PASSWORD not in told and "a%20secret" not in told and "next: " in told
    return caught.value


def test_an_account_or_a_database_that_isnt_there() -> None:
    place = server()
    assert fault_of(place.url("postgres", password="wrong")).what == (
        "the database server refuses this account"
    )
    assert fault_of(place.url("postgres", user="mallory")).what == "the database server refuses this account"
    missing = fault_of(place.url("not_made"))
    assert missing.what == "this database doesn't exist on the server"
    assert "createdb" in str(missing.next_step)


@pytest.mark.parametrize(
    "address", ["127.0.0.1:1/softmark", "no-such-host.invalid/softmark", "/softmark?host=%2Fno%2Fsuch"]
)
def test_a_server_that_isnt_there(address: str) -> None:
    fault = fault_of(f"postgresql://softmark:{PASSWORD.replace(' ', '%20')}@{address}")
    assert fault.what == "the database server can't be reached"
    assert "nothing that was stored before is lost" in str(fault.next_step)


def test_an_account_that_may_read_only(url: str) -> None:
    name = url.partition("@/")[2].partition("?")[0]
    server().sql("DROP ROLE IF EXISTS reader")
    server().sql("CREATE ROLE reader LOGIN PASSWORD 'r'")
    server().sql("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", name)
    with open_store(server().url(name, user="reader", password="r")) as store:
        assert list(store.attempts()) == []
        with pytest.raises(StoreError, match="may not do that"):
            store.record(attempt(1))
    server().sql("DROP OWNED BY reader", name)
    server().sql("DROP ROLE reader")


def test_a_database_that_is_read_only(url: str) -> None:
    name = url.partition("@/")[2].partition("?")[0]
    server().sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with open_store(url) as store, pytest.raises(StoreError, match="database is read-only"):
        store.record(attempt(1))


def test_a_store_that_somebody_holds(url: str, store: Store) -> None:
    with open_store(url, busy_timeout_s=0.2) as second, store._database.write() as connection:
        connection.exec_driver_sql("LOCK TABLE attempts IN EXCLUSIVE MODE")
        assert list(second.attempts()) == [], "readers go on"
        with pytest.raises(StoreError, match="locked by another program"):
            second.record(attempt(1))
    store.record(attempt(1))
    assert len(list(store.attempts())) == 1


def end_connections() -> None:
    server().sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        " AND backend_type = 'client backend'"
    )


def test_a_connection_that_is_cut_while_idle_is_made_again(store: Store) -> None:
    store.record(attempt(1))
    end_connections()
    store.record(attempt(2))
    assert len(list(store.attempts())) == 2


def test_a_connection_that_is_cut_within_a_transaction_keeps_nothing_of_it(store: Store) -> None:
    store.record(attempt(1))
    with (
        pytest.raises(StoreError, match="connection to the database server was lost") as caught,
        store._database.write() as connection,
    ):
        connection.exec_driver_sql("DELETE FROM attempts")
        end_connections()
        connection.exec_driver_sql("SELECT 1")
    assert "nothing that was stored before is lost" in str(caught.value.next_step)
    assert [a.submission for a in store.attempts()] == [attempt(1).submission]


def test_a_server_that_dies_loses_nothing_and_is_used_again(url: str) -> None:
    kept = 0

    def kill() -> None:
        time.sleep(0.3)
        server().stop(at_once=True)

    killer = threading.Thread(target=kill)
    with open_store(url) as store:
        killer.start()
        try:
            with pytest.raises(StoreError) as caught:
                for number in range(100_000):
                    store.record(attempt(number))
                    kept += 1
            killer.join()
            assert "nothing that was stored before is lost" in str(caught.value.next_step)
            assert fault_of(url).what == "the database server can't be reached"
        finally:
            killer.join()
            server().start()
        assert kept <= len(list(store.attempts())) <= kept + 1, "an answer may be lost, no commit is"
        store.record(attempt(kept))
        assert len(list(store.attempts())) == kept + 1


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small file system as root")
def test_a_servers_disk_that_is_full(tmp_path: Path) -> None:
    disk = server().folder / "disk"
    disk.mkdir(exist_ok=True)
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m,uid=65534,gid=65534,mode=700", "none", disk],
        capture_output=True,
    )
    if made.returncode:
        pytest.skip("this machine's tests may not mount")
    try:
        server().sql(f"CREATE TABLESPACE small LOCATION '{disk}'")
        server().sql("CREATE DATABASE on_small TABLESPACE small")
        kept = 0
        with open_store(server().url("on_small")) as store:
            with pytest.raises(StoreError, match="the server's disk is full"):
                while True:  # random text: the server would compress another
                    store.record(attempt(kept, source="".join(map(str, range(kept, kept + 60_000)))))
                    kept += 1
            # Reading writes too, and so does the next checkpoint, which all databases of the server share.
            subprocess.run(["mount", "-o", "remount,size=96m", disk], check=True)
            assert kept and len(list(store.attempts())) == kept
        server().sql("DROP DATABASE on_small")
        server().sql("DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="a server's processes are found under /proc")
def test_a_server_that_hangs_is_given_up_in_time_and_used_again(url: str) -> None:
    with open_store(url) as store:
        store.limit_answers(1.0)
        store.record(attempt(1))
        with server().frozen():
            begun = time.monotonic()
            # With a connection that was good a moment ago, then with none.
            for _ in range(2):
                with pytest.raises(StoreError, match=r"database server (doesn't answer|can't be reached)"):
                    store.record(attempt(2))
            assert time.monotonic() - begun < 60
        store.record(attempt(2))
        assert len(list(store.attempts())) == 2


def test_a_statement_that_takes_too_long_is_ended_by_the_server(url: str) -> None:
    with open_store(url) as store:
        store.limit_answers(0.5)
        with (
            pytest.raises(StoreError, match="database server doesn't answer"),
            store._database.read() as connection,
        ):
            connection.exec_driver_sql("SELECT pg_sleep(60)")
        assert list(store.attempts()) == []


def test_a_command_waits_for_as_long_as_it_takes(store: Store) -> None:
    with store._database.read() as connection:
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar() == "0"
        assert connection.exec_driver_sql("SHOW lock_timeout").scalar() == "30s"


@pytest.mark.parametrize(
    ("state", "text", "what"),
    [
        ("57014", "canceling statement due to statement timeout", "the database server doesn't answer"),
        ("53100", "", "the server's disk is full"),
        ("53300", "", "the server takes no more connections"),
        ("08006", "", "the connection to the database server was lost"),
        ("57P01", "", "the connection to the database server was lost"),
        ("XX001", "", "the server says that its data are damaged"),
        ("42P01", 'relation "attempts" does not exist', "the tables aren't in the database any more"),
        ("42601", "syntax error", "the database refused the request"),
        (None, "FATAL: sorry, too many clients already", "the server takes no more connections"),
        (None, "FATAL: the database system is starting up", "the database server can't be reached"),
        (None, "system is not yet accepting connections", "the database server can't be reached"),
        (None, "the database system is in recovery mode", "the database server can't be reached"),
        (None, "the database system is not accepting connections", "the database takes no connections"),
        (None, 'database "nets" is not currently accepting connections', "the database takes no connections"),
        (
            None,
            'connection to server at "db" failed: FATAL:  no pg_hba.conf entry for host "10.0.0.1", '
            'user "ada", database "nets", no encryption',
            "the database server doesn't let this account connect to this database from this machine",
        ),
        (None, "", "the database refused the request"),
    ],
)
def test_causes_by_their_code_or_their_words(state: str | None, text: str, what: str) -> None:
    assert server_fault(state, text)[0] == what


def test_a_server_that_other_machines_cant_reach_is_told_from_one_that_is_down() -> None:
    refused = 'connection to server at "10.0.0.1", port 5432 failed: Connection refused'
    what, next_step = server_fault(None, refused, "postgresql://ada@db/nets")
    assert what == "the database server can't be reached" and "listen_addresses" in next_step
    # By an address that tries no encryption it can't be known which of the two is missing.
    entry = 'FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "ada", database "nets", no encryption'
    what, _ = server_fault(None, entry, "postgresql://ada@db/nets?sslmode=disable")
    assert what == "the database server takes encrypted connections only"
