"""Where the database limits: a simulation of many workers on one PostgreSQL server.

    python benchmarks/cluster_simulation.py                 # 1 to 100 workers, 100,000 submissions
    python benchmarks/cluster_simulation.py --quick         # fewer of both, to see that it works
    python benchmarks/cluster_simulation.py --times FILE    # other service times
    python benchmarks/cluster_simulation.py --measure FILE  # measures them on this machine, for a minute

What a grading and a transaction take is read from a file (benchmarks/many_workers/service_times.json) and not
assumed here. The model, with SimPy:

- Each statement takes one of the server's cores for its time, and a round trip on the network.
- A commit waits until the write-ahead log is on disk. One flush takes along all commits that wait when it
  begins; those that come meanwhile wait for the next one.
- A worker claims interactive hand-ins before chunks of the batch, grades one program after the other, and
  stores the results of a chunk in the transaction that finishes it. Where a hand-in waits at the end of a
  program, the rest of the chunk goes back to the queue. Workers send heartbeats all the time.
- For each course one process, the course's side, collects results and stores the marks of one look together.
- Interactive hand-ins arrive independently of each other (Poisson). Each is stored in a transaction first,
  and whoever waits for it looks again and again whether its result is there.
- A statement takes as long with many workers as with one, nobody dies, and workers without work cost nothing.

tests/repo/test_cluster_simulation.py compares its parts with what queueing theory says of M/M/1, M/M/c and a
server with a finite number of clients.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import simpy

TIMES = Path(__file__).with_name("many_workers") / "service_times.json"
WORKERS = (1, 2, 5, 10, 20, 40, 60, 80, 100)
MOST_STEPS = 40
COLLECT = 200  # results that the course's side reads at once
# The knee is where one worker more brings less than this share of what the first one brought.
WORTH = 0.5

Steps = Generator[simpy.Event, Any, Any]


class ServiceTime:
    """A distribution of times in milliseconds, as the file of service times describes it.

    Parameters
    ----------
    shape : mapping
        ``{"constant": ms}``, ``{"exponential": mean}``, or ``{"quantiles": [smallest, …, largest]}`` with
        evenly spaced quantiles of what was measured; between two of them all values are equally likely.
    """

    def __init__(self, shape: Mapping[str, Any]) -> None:
        (self._kind, value), *others = shape.items()
        self._values = np.atleast_1d(np.asarray(value, dtype=float))
        if others or self._kind not in ("constant", "exponential", "quantiles"):
            raise ValueError(f"no distribution of times: {dict(shape)}")
        if self._values.size == 0 or self._values[0] < 0 or (np.diff(self._values) < 0).any():
            raise ValueError(f"times must be numbers from 0 on, none smaller than the one before: {value}")

    @property
    def mean_s(self) -> float:
        """The mean in seconds."""
        middles = (self._values[:-1] + self._values[1:]) / 2
        return float((middles.mean() if middles.size else self._values[0]) / 1000)

    def draw(self, stream: np.random.Generator, count: int = 1) -> float:
        """Return the sum of `count` independent times in seconds."""
        if self._kind == "constant":
            return float(self._values[0]) * count / 1000
        if self._kind == "exponential":
            return float(stream.standard_exponential(count).sum() * self._values[0]) / 1000
        places = stream.random(count) * (self._values.size - 1)
        return float(np.interp(places, np.arange(self._values.size), self._values).sum()) / 1000


@dataclass(frozen=True)
class ServiceTimes:
    """What single steps take, and how often what is done in turns is done.

    Parameters
    ----------
    source : str
        Where the figures come from.
    grading : ServiceTime
        Of one program, in the worker.
    claim, finish, finish_each, hand_in, heartbeat, look, store : ServiceTime
        Processor time of the server for a transaction: ``finish`` for a chunk, ``finish_each`` for each of
        its results besides, ``look`` for one look at what is there, ``store`` for one mark.
    course_side : ServiceTime
        Of one result, in the process that collects them.
    flush, network : ServiceTime
        Of the log to the disk; a round trip.
    claim_trips, finish_trips, hand_in_trips, store_trips : int
        Round trips of a transaction; ``store_trips`` are those of one that stores marks, however many.
    stored_together : int
        Marks that the course's side stores in one transaction.
    heartbeat_every_s, collect_every_s, look_every_s : float
        From a worker's heartbeat to the next, and between two looks of the course's side and of those who
        wait for a hand-in; 0 for who is told at once.
    """

    source: str
    grading: ServiceTime
    claim: ServiceTime
    finish: ServiceTime
    finish_each: ServiceTime
    hand_in: ServiceTime
    heartbeat: ServiceTime
    look: ServiceTime
    store: ServiceTime
    course_side: ServiceTime
    flush: ServiceTime
    network: ServiceTime
    claim_trips: int
    finish_trips: int
    hand_in_trips: int
    store_trips: int
    stored_together: int
    heartbeat_every_s: float
    collect_every_s: float
    look_every_s: float

    @classmethod
    def read(cls, path: Path) -> ServiceTimes:
        """Read the file of service times."""
        values = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{name: ServiceTime(v) if isinstance(v, dict) else v for name, v in values.items()})


@dataclass(frozen=True)
class ClusterLoad:
    """What there is to do, and on what server.

    Parameters
    ----------
    submissions, chunk : int
        Of the batch, and how many are claimed at once.
    arrivals : float
        Interactive hand-ins a second.
    cores : int
        Of the server.
    courses : int
        That hand over a part of the batch each, and collect its results.
    seed : int
    hand_ins : int or None
        So many hand-ins arrive; None for as many as come until the batch is done.
    """

    submissions: int = 100_000
    chunk: int = 50
    arrivals: float = 1.0
    cores: int = 4
    courses: int = 1
    seed: int = 1
    hand_ins: int | None = None


class SimulatedDatabase:
    """The server: its cores and its log.

    Parameters
    ----------
    env : simpy.Environment
    times : ServiceTimes
    cores : int
    stream : numpy.random.Generator
    """

    def __init__(
        self, env: simpy.Environment, times: ServiceTimes, cores: int, stream: np.random.Generator
    ) -> None:
        self._env = env
        self._times = times
        self._stream = stream
        self._cores = simpy.Resource(env, cores)
        self._commits: list[simpy.Event] = []
        self._is_flushing = False
        self.busy_s = 0.0  # of all cores together
        self.flush_s = 0.0
        self.commits = 0
        self.flushes = 0

    def transaction(self, processor_s: float, trips: int = 1, *, writes: bool = True) -> Steps:
        """Run one transaction; its statements share the processor time equally."""
        # Hundreds of statements of one transaction are simulated by some dozens that take as long.
        steps = min(trips, MOST_STEPS)
        for _ in range(steps):
            yield self._env.timeout(self._times.network.draw(self._stream) * trips / steps)
            with self._cores.request() as core:
                yield core
                yield self._env.timeout(processor_s / steps)
        self.busy_s += processor_s
        if writes:
            self.commits += 1
            done = self._env.event()
            self._commits.append(done)
            if not self._is_flushing:
                self._env.process(self._flush())
            yield done

    def _flush(self) -> Steps:
        self._is_flushing = True
        while self._commits:
            group, self._commits = self._commits, []
            took = self._times.flush.draw(self._stream)
            yield self._env.timeout(took)
            self.flush_s += took
            self.flushes += 1
            for done in group:
                done.succeed()
        self._is_flushing = False


@dataclass
class SimulatedRun:
    """What one simulation brought.

    Parameters
    ----------
    workers : int
    seconds : float
        Until the last mark was stored.
    stored, interactive : int
        Marks of the batch, and hand-ins whose result was seen.
    cores, log, course_side : float
        Shares of the time in which these were busy; where there are several, on average.
    group : float
        Commits that one flush took along, on average.
    waits : list of float
        Seconds from each hand-in until its result was seen.
    queued : list of float
        Of these, seconds until a worker began it.
    """

    workers: int
    seconds: float = 0.0
    stored: int = 0
    interactive: int = 0
    cores: float = 0.0
    log: float = 0.0
    course_side: float = 0.0
    group: float = 0.0
    waits: list[float] = field(default_factory=list)
    queued: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Marks of the batch a second."""
        return self.stored / self.seconds

    def wait_s(self, percent: float) -> float | None:
        """Return a percentile of the waits, None where nobody handed in."""
        return float(np.percentile(self.waits, percent)) if self.waits else None


class SimulatedCluster:
    """Workers, the queue, the server and the course's side, for one run.

    Parameters
    ----------
    times : ServiceTimes
    load : ClusterLoad
    workers : int
    """

    def __init__(self, times: ServiceTimes, load: ClusterLoad, workers: int) -> None:
        self._env = simpy.Environment()
        self._times = times
        self._load = load
        # Streams of their own: hand-ins arrive at the same moments however many workers there are.
        arriving, grading, serving, collecting = (np.random.default_rng([load.seed, n]) for n in range(4))
        self._arriving, self._grading, self._collecting = arriving, grading, collecting
        self._database = SimulatedDatabase(self._env, times, load.cores, serving)
        self._hand_ins: list[tuple[float, simpy.Event]] = []
        self._left = load.submissions
        self._results = 0  # of the batch, that nobody has collected yet
        self._taken = 0
        self._idle: list[simpy.Event] = []
        self._collect_s = 0.0
        self._run = SimulatedRun(workers)

    def run(self) -> SimulatedRun:
        """Simulate until everything is stored."""
        for _ in range(self._run.workers):
            self._env.process(self._work())
            self._env.process(self._beat())
        ended = [self._env.process(self._collect()) for _ in range(self._load.courses)]
        if self._load.arrivals:
            ended.append(self._env.process(self._arrive()))
        # Hand-ins without an end are left where they are when the batch is done.
        until = ended if self._load.hand_ins is not None else ended[: self._load.courses]
        self._env.run(simpy.AllOf(self._env, until))
        run, now = self._run, self._env.now
        run.seconds = now
        run.cores = self._database.busy_s / (self._load.cores * now)
        run.log = self._database.flush_s / now
        run.course_side = self._collect_s / (self._load.courses * now)
        run.group = self._database.commits / max(1, self._database.flushes)
        return run

    def _arrive(self) -> Steps:
        seen = []
        while len(seen) != self._load.hand_ins:
            yield self._env.timeout(float(self._arriving.exponential(1 / self._load.arrivals)))
            seen.append(self._env.process(self._hand_in()))
        yield simpy.AllOf(self._env, seen)

    def _hand_in(self) -> Steps:
        came, times = self._env.now, self._times
        yield from self._database.transaction(times.hand_in.draw(self._arriving), times.hand_in_trips)
        done = self._env.event()
        self._hand_ins.append((came, done))
        if self._idle:
            self._idle.pop(0).succeed()
        if not times.look_every_s:
            yield done
        while not done.triggered:
            yield self._env.timeout(times.look_every_s)
            yield from self._database.transaction(times.look.draw(self._collecting), writes=False)
        self._run.waits.append(self._env.now - came)
        self._run.interactive += 1

    def _beat(self) -> Steps:
        yield self._env.timeout(self._times.heartbeat_every_s * float(self._collecting.random()))
        while True:
            yield from self._database.transaction(self._times.heartbeat.draw(self._collecting))
            yield self._env.timeout(self._times.heartbeat_every_s)

    def _work(self) -> Steps:
        while True:
            if not self._hand_ins and not self._left:
                woken = self._env.event()
                self._idle.append(woken)
                yield woken
            claim = self._times.claim.draw(self._grading)
            yield from self._database.transaction(claim, self._times.claim_trips)
            # Others may have taken meanwhile what there was.
            if self._hand_ins:
                came, done = self._hand_ins.pop(0)
                self._run.queued.append(self._env.now - came)
                yield self._env.timeout(self._times.grading.draw(self._grading))
                yield from self._finish(1)
                done.succeed()
            elif self._left:
                count = min(self._load.chunk, self._left)
                self._left -= count
                graded = 0
                # A chunk makes way for hand-ins after any of its programs; the rest of it waits again.
                while graded < count and not (graded and self._hand_ins):
                    yield self._env.timeout(self._times.grading.draw(self._grading))
                    graded += 1
                yield from self._finish(graded)
                self._results += graded
                self._left += count - graded
                if graded < count and self._idle:
                    self._idle.pop(0).succeed()

    def _finish(self, count: int) -> Steps:
        times = self._times
        processor = times.finish.draw(self._grading) + times.finish_each.draw(self._grading, count)
        yield from self._database.transaction(processor, times.finish_trips)

    def _collect(self) -> Steps:
        """Store the marks of what was graded, one look after the other."""
        times, stream = self._times, self._collecting
        while self._taken < self._load.submissions:
            if not self._results:
                # Not 0: nothing would happen until then, and this would look for ever.
                yield self._env.timeout(times.collect_every_s or 1e-3)
                continue
            begun = self._env.now
            count = min(COLLECT, self._results)
            self._results -= count
            self._taken += count
            yield from self._database.transaction(times.look.draw(stream), writes=False)
            for first in range(0, count, times.stored_together):
                together = min(times.stored_together, count - first)
                yield self._env.timeout(times.course_side.draw(stream, together))
                yield from self._database.transaction(times.store.draw(stream, together), times.store_trips)
            yield from self._database.transaction(times.look.draw(stream))  # forgets them
            self._run.stored += count
            self._collect_s += self._env.now - begun


def most_rates(times: ServiceTimes, load: ClusterLoad) -> dict[str, float]:
    """Return the submissions a second that each part allows at most, however many workers there are.

    The log is none of them: a flush takes along whatever waits.
    """
    each = (times.claim.mean_s + times.finish.mean_s) / load.chunk + times.finish_each.mean_s
    each += times.store.mean_s
    course_side = times.course_side.mean_s + times.store.mean_s
    course_side += (times.store_trips * times.network.mean_s + times.flush.mean_s) / times.stored_together
    return {
        "the server's cores": load.cores / each if each else math.inf,
        "the course's side": load.courses / course_side if course_side else math.inf,
    }


def knee(runs: Sequence[SimulatedRun]) -> SimulatedRun | None:
    """Return the last run before more workers bring less than half of what the first brought each."""
    worth = WORTH * runs[0].rate / runs[0].workers
    for before, after in itertools.pairwise(runs):
        if (after.rate - before.rate) / (after.workers - before.workers) < worth:
            return before
    return None


def simulate(times: ServiceTimes, load: ClusterLoad, workers: Sequence[int]) -> list[SimulatedRun]:
    """Return a run for each number of workers."""
    return [SimulatedCluster(times, load, count).run() for count in workers]


def describe(times: ServiceTimes, load: ClusterLoad) -> str:
    """Return the assumptions as text."""
    means = {name: value.mean_s for name, value in vars(times).items() if isinstance(value, ServiceTime)}
    shown = ", ".join(f"{name.replace('_', ' ')} {1000 * mean:.3g}" for name, mean in means.items())
    return (
        f"{load.submissions:,} submissions in chunks of {load.chunk}, {load.arrivals:g} hand-ins a second, "
        f"courses: {load.courses}, a server with {load.cores} cores, seed {load.seed}\n"
        f"service times: {times.source}\nmeans in ms: {shown}\n"
    )


def table(runs: Sequence[SimulatedRun]) -> str:
    """Return the figures of all runs as text."""
    heads = ("workers", "per s", "stored s", "cores %", "log %", "course %", "group", "p50 s", "p95 s")
    lines = ["".join(f"{head:>10}" for head in heads)]
    for run in runs:
        shares = "".join(f"{100 * share:>10.1f}" for share in (run.cores, run.log, run.course_side))
        waits = "".join("-".rjust(10) if w is None else f"{w:>10.2f}" for w in map(run.wait_s, (50, 95)))
        lines.append(
            f"{run.workers:>10}{run.rate:>10,.1f}{run.seconds:>10,.0f}{shares}{run.group:>10.2f}{waits}"
        )
    return "\n".join(lines)


def verdict(runs: Sequence[SimulatedRun], times: ServiceTimes, load: ClusterLoad) -> str:
    """Say where the limit is."""
    rates = most_rates(times, load)
    first = min(rates, key=lambda name: rates[name])
    limits = ", ".join(f"{name} {rate:,.0f}" for name, rate in rates.items())
    bend = knee(runs)
    where = (
        f"no knee up to {runs[-1].workers} workers"
        if bend is None
        else f"the knee: after {bend.workers} workers, at {bend.rate:,.0f} a second"
    )
    return f"at most, in submissions a second: {limits}\n{where}; {first} limit first"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="see that it works; no figures to quote")
    parser.add_argument("--times", type=Path, default=TIMES, metavar="FILE", help="service times")
    parser.add_argument("--measure", type=Path, metavar="FILE", help="measure service times, and end")
    parser.add_argument("--submissions", type=int, help="of the batch (100,000; quick: 2,000)")
    parser.add_argument("--chunk", type=int, default=ClusterLoad.chunk, help="claimed at once (50)")
    parser.add_argument("--arrivals", type=float, default=ClusterLoad.arrivals, help="hand-ins a second (1)")
    parser.add_argument("--cores", type=int, default=ClusterLoad.cores, help="of the server (4)")
    parser.add_argument("--courses", type=int, default=ClusterLoad.courses, help="that share the work (1)")
    parser.add_argument("--seed", type=int, default=ClusterLoad.seed)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    options = parser.parse_args()
    if options.measure is not None:
        from many_workers.measuring import measure

        options.measure.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
        return
    load = ClusterLoad(
        submissions=options.submissions or (2_000 if options.quick else ClusterLoad.submissions),
        chunk=options.chunk,
        arrivals=options.arrivals,
        cores=options.cores,
        courses=options.courses,
        seed=options.seed,
    )
    times = ServiceTimes.read(options.times)
    print(describe(times, load))
    runs = simulate(times, load, WORKERS[:4] if options.quick else WORKERS)
    print(table(runs), verdict(runs, times, load), sep="\n\n")
    if options.json is not None:
        rows = [
            {
                **{name: value for name, value in asdict(run).items() if not isinstance(value, list)},
                "rate": run.rate,
                "p50_s": run.wait_s(50),
                "p95_s": run.wait_s(95),
            }
            for run in runs
        ]
        result = {"load": asdict(load), "source": times.source, "runs": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
