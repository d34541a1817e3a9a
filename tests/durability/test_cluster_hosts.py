"""Three workers and a database on hosts of their own: whatever dies or stalls, each program has one mark.

It is the mark that one machine gives. Six random moments by default; ``make sweep`` kills at 100 of them, and
keeps a host apart for 60 s, with heartbeats as they are in earnest.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.durability.cluster_of_hosts import ClassForCluster, Cluster
from tests.live.hosts import network
from tests.live.postgres import server_on

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")

KILLS = int(os.environ.get("SOFTMARK_CLUSTER_KILLS", "6"))
APART_S = float(os.environ.get("SOFTMARK_CLUSTER_APART_S", "8"))
KILLS_OF_A_CLASS = 10


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ClassForCluster:
    return ClassForCluster.make(tmp_path_factory.mktemp("hosts"), 45)


@pytest.fixture
def cluster(room: ClassForCluster, tmp_path: Path) -> Iterator[Cluster]:
    with network(tmp_path) as net, server_on(net.host("database")) as server:
        yield Cluster(net, server, room)


def test_kills_at_random_moments(cluster: Cluster) -> None:
    rng = random.Random(17)
    killed: list[str] = []
    kinds = ("worker", "worker", "worker", "database", "database-host", "batch")
    left = [kinds[number % len(kinds)] for number in range(KILLS)]
    rng.shuffle(left)
    while left:
        cluster.begin()
        # The line is there before the first kill, so that each kill finds something to disturb.
        cluster.until(cluster.waiting, "nothing was handed over")
        in_class = 0
        while left and in_class < KILLS_OF_A_CLASS:
            moment = time.monotonic() + rng.uniform(0.2, 3.0)
            while time.monotonic() < moment and not cluster.keep_running():
                time.sleep(0.02)
            if not cluster.waiting():
                break
            kind = left.pop()
            kill(cluster, kind, rng)
            killed.append(kind)
            in_class += 1
        result = cluster.finish()
        assert (result["ungraded"], result["left"]) == ([], 0), result
        cluster.check()
        cluster.stop()
    assert len(killed) == KILLS


def kill(cluster: Cluster, kind: str, rng: random.Random) -> None:
    if kind == "worker":
        rng.choice(cluster.workers).kill()
    elif kind == "batch":
        cluster.batch.kill()
    else:
        if kind == "database":
            cluster.server.kill()
        else:
            cluster.server.host.kill_everything()
        time.sleep(rng.uniform(0, 1.5))
        cluster.server.start()


def test_a_host_apart_a_slow_one_and_one_with_a_full_disk(cluster: Cluster) -> None:
    apart, slow, full = cluster.workers
    place = Path(full.environment["TMPDIR"])
    disk = full.host.small_disk(place, 8)
    cluster.begin()
    cluster.until(cluster.waiting, "nothing was handed over")
    cluster.until(lambda: cluster.count("workers") == 3, "a worker didn't come")
    slow.host.run_at(0.5)
    disk.fill()
    with cluster.net.parted(apart.host):
        keep_running_for(cluster, APART_S)
    cluster.finish()
    disk.make_room()
    cluster.until(lambda: cluster.count("workers") == 3, "a worker didn't come back")
    cluster.check()


def keep_running_for(cluster: Cluster, seconds: float, and_then: Callable[[], None] = lambda: None) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        cluster.keep_running()
        and_then()
        time.sleep(0.05)
