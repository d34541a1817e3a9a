"""The hosts that tests of several machines stand on are apart, reach each other, and leave nothing behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.hosts import Host, HostProcess, Network, network
from tests.live.postgres import PASSWORD, ServerOnHost, server_on

ROOT = Path(__file__).parents[2]
ASK = """
import sys, psycopg
with psycopg.connect(sys.argv[1], connect_timeout=5) as connection:
    query = "SELECT inet_client_addr(), ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    print(*connection.execute(query).fetchone())
"""
BURN = """
import time
begun = time.monotonic()
while time.process_time() < 0.4:
    pass
print(time.monotonic() - begun)
"""


@pytest.fixture
def net(tmp_path: Path) -> Iterator[Network]:
    with network(tmp_path) as made:
        yield made


@pytest.fixture
def database(net: Network) -> Iterator[ServerOnHost]:
    with server_on(net.host("database")) as running:
        yield running


def ask(host: Host, address: str) -> HostProcess:
    process = host.start([sys.executable, "-c", ASK, address])
    process.wait()
    return process


def test_hosts_reach_the_database_and_one_that_is_parted_comes_back(
    net: Network, database: ServerOnHost
) -> None:
    one, two = net.host("one"), net.host("two")
    address = database.network_url(database.new_database())
    for host in (one, two):
        assert ask(host, address).said() == f"{host.address} True\n"
    with net.parted(one):
        away = ask(one, address)
        assert away.poll() == 1 and "timeout" in away.said()
        assert ask(two, address).poll() == 0
    assert ask(one, address).said() == f"{one.address} True\n"


def test_only_tls_and_the_right_password_lead_to_the_database(net: Network, database: ServerOnHost) -> None:
    one = net.host("one")
    name = database.new_database()
    for address, words in (
        (database.network_url(name, mode="disable"), "no pg_hba.conf entry"),
        (database.network_url(name, password=f"{PASSWORD}."), "password authentication failed"),
        (database.network_url(name).replace(database.host.address, one.address), "refused"),
    ):
        refused = ask(one, address)
        assert refused.poll() == 1 and words in refused.said(), refused.said()


def test_what_the_database_confirmed_outlives_it(net: Network, database: ServerOnHost) -> None:
    name = database.new_database()
    table = name.partition("@/")[2].partition("?")[0]
    database.sql("CREATE TABLE kept (n int)", table)
    for number, end in enumerate((database.kill, database.host.kill_everything, database.stop)):
        database.sql(f"INSERT INTO kept VALUES ({number})", table)
        end()
        database.start()
    assert database.sql("SELECT n FROM kept ORDER BY n", table) == [(0,), (1,), (2,)]
    assert [database.sql(f"SHOW {name}") for name in ("fsync", "full_page_writes", "synchronous_commit")] == [
        [("on",)]
    ] * 3


def test_a_slow_host_and_one_that_stands_still(net: Network) -> None:
    host = net.host("one")

    def took() -> float:
        return float(host.run([sys.executable, "-c", BURN]))

    host.run_at(0.25)
    assert took() > 1.2, "four times 0.4 s, less what the last beat left"
    host.run_at(1)
    with host.frozen():
        still = host.start([sys.executable, "-c", BURN])
        time.sleep(0.8)
        assert still.poll() is None
    assert still.wait() == 0


def test_a_host_has_a_name_processes_and_disks_of_its_own(net: Network, tmp_path: Path) -> None:
    one, two = net.host("one"), net.host("two")
    secret, small = tmp_path / "secret", tmp_path / "small"
    for folder in (secret, small):
        folder.mkdir()
    (secret / "key").write_text("1")
    one.hide(secret)
    disk = one.small_disk(small, 1)
    disk.fill()
    assert one.run(["sh", "-c", f"uname -n; ls {secret}"]) == "one\n"
    write = ["dd", "if=/dev/zero", f"of={small}/x", "bs=1", "count=1"]
    assert os.strerror(errno.ENOSPC) in one.run(write, wanted=1)
    disk.make_room()
    one.run(write)
    assert two.run(["sh", "-c", f"uname -n; ls {secret} {small}"]).split() == [
        "two",
        f"{secret}:",
        "key",
        f"{small}:",
    ]
    sleeper = one.start(["sleep", "1000"])
    two.kill_everything()
    assert sleeper.poll() is None
    one.kill_everything()
    assert sleeper.wait() == -signal.SIGKILL


def test_a_test_that_is_killed_leaves_nothing(net: Network, tmp_path: Path) -> None:
    """`net` isn't used; with it this is skipped where the others are."""
    word = f"left-{os.getpid()}"
    script = f"""
import sys, time
from pathlib import Path
from tests.live.hosts import network

with network(Path({str(tmp_path)!r})) as net:
    hosts = [net.host("one"), net.host("two")]
    for host in hosts:
        host.start(["bash", "-c", "exec -a {word} sleep 1000"])
    print(*(host.first for host in hosts), flush=True)
    time.sleep(1000)
"""
    killed = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert killed.stdout is not None
    firsts = killed.stdout.readline().split()
    assert len(firsts) == 2 and all(Path(f"/proc/{number}").exists() for number in firsts)
    killed.kill()
    killed.wait()
    killed.stdout.close()
    end = time.monotonic() + 60
    while any(Path(f"/proc/{number}/exe").exists() for number in firsts) or word in _commands():
        assert time.monotonic() < end, "processes of the hosts are left"
        time.sleep(0.02)


def _commands() -> str:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_text(errors="replace"))
        except OSError:  # it has ended meanwhile
            continue
    return "\n".join(found)
