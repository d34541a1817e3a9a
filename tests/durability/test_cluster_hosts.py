"""Three workers and a database on hosts of their own: whatever dies or stalls, each program has one mark.

It is the mark that one machine gives. Six random moments by default; ``make sweep`` kills at 100 of them, and
keeps a host apart for 60 s, with heartbeats as they are in earnest. Two workers' clocks are hours wrong.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from tests.durability.cluster_of_hosts import ClassForCluster, Cluster, ClusterHost
from tests.live.hosts import network
from tests.live.postgres import server_on

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")

KILLS = int(os.environ.get("SOFTMARK_CLUSTER_KILLS", "6"))
APART_S = float(os.environ.get("SOFTMARK_CLUSTER_APART_S", "8"))
HEARTBEAT_S = 10.0 if APART_S >= 60 else 0.5
KILLS_OF_A_CLASS = 10
WRONG_BY_S = 7_200.0


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> ClassForCluster:
    return ClassForCluster.make(tmp_path_factory.mktemp("hosts"), 30)


@pytest.fixture
def cluster(room: ClassForCluster, tmp_path: Path) -> Iterator[Cluster]:
    with network(tmp_path) as net, server_on(net.host("database")) as server:
        made = Cluster(net, server, room, tmp_path)
        made.workers[0].set_clock(WRONG_BY_S)
        made.workers[1].set_clock(-WRONG_BY_S)
        yield made


def test_kills_at_random_moments(cluster: Cluster) -> None:
    rng = random.Random(17)
    killed: list[str] = []
    kinds = ("worker", "worker", "worker", "database", "database-host", "batch")
    left = [kinds[number % len(kinds)] for number in range(KILLS)]
    rng.shuffle(left)
    while left:
        cluster.begin()
        cluster.may_grade = True
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
    cluster.heartbeat_s = HEARTBEAT_S
    apart, slow, full = cluster.workers
    place = Path(full.environment["TMPDIR"])
    disk = full.host.small_disk(place, 8)
    cluster.begin()
    cluster.until(lambda: cluster.count("workers") == 3, "a worker didn't come")
    slow.host.run_at(0.5)
    disk.fill()
    cluster.may_grade = True
    cluster.until(lambda: cluster.has_work(apart), "the first worker got nothing")
    with cluster.net.parted(apart.host):
        end = time.monotonic() + APART_S
        while time.monotonic() < end:
            cluster.keep_running()
            time.sleep(0.05)
    cluster.finish()
    cluster.until(lambda: "taken-for-dead" in apart.said(), "nobody took its work")
    cluster.check()
    hours = [when_said(worker).hour for worker in cluster.workers]
    assert {(hours[0] - hours[2]) % 24, (hours[2] - hours[1]) % 24} <= {1, 2, 3}, "the clocks were right"
    assert "No space left" in full.said()
    assert [worker.starts for worker in cluster.workers] == [1, 1, 1], "they go on by themselves"


def when_said(worker: ClusterHost) -> datetime:
    """Return what a worker takes for the time of the last line of its log."""
    line = json.loads(worker.said().strip().splitlines()[-1])
    return datetime.fromisoformat(line["at"])
