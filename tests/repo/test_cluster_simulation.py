"""The simulation of many workers agrees with what queueing theory computes of its parts."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import simpy

from benchmarks.cluster_simulation import (
    COLLECT,
    TIMES,
    ClusterLoad,
    ServiceTime,
    ServiceTimes,
    SimulatedCluster,
    SimulatedDatabase,
    SimulatedRun,
    Steps,
    knee,
    most_rates,
    simulate,
)

ROOT = Path(__file__).parents[2]
NOTHING = ServiceTime({"constant": 0})


def times(**changed: ServiceTime | float) -> ServiceTimes:
    """Return service times of 0 but for those that are given."""
    read = ServiceTimes.read(TIMES)
    values: dict[str, Any] = {"heartbeat_every_s": 1e9, "look_every_s": 0, "stored_together": COLLECT}
    for name, value in vars(read).items():
        if isinstance(value, ServiceTime):
            values[name] = NOTHING
        elif name.endswith("_trips"):
            values[name] = 1
    return replace(read, **(values | changed))


def exponential(mean_s: float) -> ServiceTime:
    return ServiceTime({"exponential": 1000 * mean_s})


def wait_by_erlang(servers: int, arrivals: float, service_s: float) -> float:
    """Return the mean wait of M/M/c before service, by Erlang's formula C."""
    load = arrivals * service_s
    last = load**servers / math.factorial(servers) / (1 - load / servers)
    waits = last / (sum(load**k / math.factorial(k) for k in range(servers)) + last)
    return waits / (servers / service_s - arrivals)


def rate_of_finite_source(clients: int, think_s: float, service_s: float) -> float:
    """Return the throughput of one server whose clients come back after an exponential time (M/M/1//N)."""
    ratio = service_s / think_s
    idle = 1 / sum(math.perm(clients, k) * ratio**k for k in range(clients + 1))
    return (1 - idle) / service_s


@pytest.mark.parametrize(("workers", "busy"), [(1, 0.5), (2, 0.6), (8, 0.7)])
def test_hand_ins_wait_as_in_a_queue_with_several_servers(workers: int, busy: float) -> None:
    service_s = 0.05
    arrivals = busy * workers / service_s
    load = ClusterLoad(submissions=0, arrivals=arrivals, hand_ins=4_000)
    grading = times(grading=exponential(service_s))
    runs = [SimulatedCluster(grading, replace(load, seed=seed), workers).run() for seed in range(1, 13)]
    assert all(run.interactive == len(run.queued) == 4_000 for run in runs)
    wanted = wait_by_erlang(workers, arrivals, service_s)
    # Long waits come one after the other, so the error is taken from what independent runs differ by.
    queued = [np.mean(run.queued) for run in runs]
    error = np.std(queued, ddof=1) / math.sqrt(len(runs))
    assert error < 0.06 * wanted
    assert abs(np.mean(queued) - wanted) < 2.5 * error
    assert np.mean([run.waits for run in runs]) == pytest.approx(wanted + service_s, rel=0.03)


@pytest.mark.parametrize(("cores", "busy"), [(1, 0.5), (4, 0.7)])
def test_transactions_wait_for_cores_as_in_a_queue_with_several_servers(cores: int, busy: float) -> None:
    service_s = 0.002
    arrivals = busy * cores / service_s
    # So many workers that none is waited for, and they need no core: what is left is storing a hand-in.
    load = ClusterLoad(submissions=0, arrivals=arrivals, cores=cores, hand_ins=40_000)
    storing = times(hand_in=exponential(service_s), claim_trips=0, finish_trips=0)
    run = SimulatedCluster(storing, load, 200).run()
    wanted = wait_by_erlang(cores, arrivals, service_s) + service_s
    assert np.mean(run.waits) == pytest.approx(wanted, rel=0.06)
    assert run.cores == pytest.approx(busy, rel=0.02)


@pytest.mark.parametrize("workers", [1, 4, 10, 20, 40])
def test_the_knee_is_where_the_formula_of_a_finite_source_has_it(workers: int) -> None:
    """Workers think (they grade) and come back to a server with one core."""
    think_s, service_s = 0.05, 0.005
    load = ClusterLoad(submissions=20_000, chunk=1, arrivals=0, cores=1)
    measured = times(grading=exponential(think_s), finish=exponential(service_s), claim_trips=0)
    run = SimulatedCluster(measured, load, workers).run()
    assert run.rate == pytest.approx(rate_of_finite_source(workers, think_s, service_s), rel=0.03)


@pytest.mark.parametrize("clients", [1, 2, 10])
def test_a_flush_takes_along_all_commits_that_wait(clients: int) -> None:
    """Of clients that only commit, half wait for the flush that runs, the other half for the next one."""
    env = simpy.Environment()
    flushing = times(flush=ServiceTime({"constant": 10}))
    database = SimulatedDatabase(env, flushing, 1, np.random.default_rng(1))

    def commit() -> Steps:
        while True:
            yield from database.transaction(0.0)

    for _ in range(clients):
        env.process(commit())
    env.run(10.005)
    assert database.flushes == 1000
    assert database.commits == pytest.approx(max(1, clients / 2) * 1000, rel=0.02)
    assert database.flush_s == pytest.approx(10)


def test_who_comes_during_a_flush_waits_for_the_next_one() -> None:
    env = simpy.Environment()
    database = SimulatedDatabase(env, times(flush=ServiceTime({"constant": 10})), 1, np.random.default_rng(1))
    ended = []

    def commit(at_s: float) -> Steps:
        yield env.timeout(at_s)
        yield from database.transaction(0.0)
        ended.append(round(env.now, 6))

    for at_s in (0, 0.001, 0.009, 0.1):
        env.process(commit(at_s))
    env.run()
    assert ended == [0.01, 0.02, 0.02, 0.11]


def test_everything_is_stored_once_and_the_same_seed_gives_the_same_run() -> None:
    read = ServiceTimes.read(TIMES)
    load = ClusterLoad(submissions=1_013, courses=3)
    first, again = (SimulatedCluster(read, load, 7).run() for _ in range(2))
    other = SimulatedCluster(read, replace(load, seed=2), 7).run()
    assert first == again != other
    assert first.stored == 1_013 and first.interactive == len(first.waits) > 0
    assert all(0 < share < 1 for share in (first.cores, first.log, first.course_side))


def test_the_rate_stays_below_what_the_parts_allow_and_comes_near_it() -> None:
    # Gradings so short that 100 workers ask for more than one core of the server can do.
    read = replace(ServiceTimes.read(TIMES), grading=ServiceTime({"constant": 10.0}))
    load = ClusterLoad(submissions=40_000, arrivals=0, courses=20, cores=1)
    bounds = most_rates(read, load)
    assert min(bounds, key=lambda name: bounds[name]) == "the server's cores"
    run = SimulatedCluster(read, load, 100).run()
    assert 0.75 * bounds["the server's cores"] < run.rate < bounds["the server's cores"]


def test_the_knee_is_said_and_none_is_invented() -> None:
    def run(workers: int, rate: float) -> SimulatedRun:
        return SimulatedRun(workers, seconds=1000 / rate, stored=1000)

    bent = [run(1, 10), run(10, 95), run(20, 150), run(40, 160)]
    assert knee(bent) is bent[2]
    assert knee([run(1, 10), run(10, 95), run(100, 900)]) is None


def test_quantiles_are_drawn_as_they_were_measured() -> None:
    quantiles = [1.0, 2.0, 2.0, 8.0]
    shape = ServiceTime({"quantiles": quantiles})
    stream = np.random.default_rng(1)
    drawn = [1000 * shape.draw(stream) for _ in range(30_000)]
    assert np.quantile(drawn, [0, 1 / 3, 1 / 2, 1]) == pytest.approx([1, 2, 2, 8], abs=0.02)
    assert np.mean(drawn) == pytest.approx(1000 * shape.mean_s, rel=0.01)
    assert 1000 * shape.draw(stream, 30_000) == pytest.approx(sum(drawn), rel=0.02)


@pytest.mark.parametrize(
    "shape",
    [
        {"normal": 1},
        {"constant": -1},
        {"quantiles": [2, 1]},
        {"quantiles": []},
        {"constant": 1, "exponential": 1},
    ],
)
def test_a_distribution_that_is_none_is_refused(shape: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="times"):
        ServiceTime(shape)


def test_the_figures_are_written_as_json(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    command = [sys.executable, "benchmarks/cluster_simulation.py", "--quick", "--json", str(path)]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    written = json.loads(path.read_text())
    assert written["source"] in printed
    read = ServiceTimes.read(TIMES)
    runs = simulate(read, ClusterLoad(**written["load"]), [run["workers"] for run in written["runs"]])
    assert [run["rate"] for run in written["runs"]] == [run.rate for run in runs]
