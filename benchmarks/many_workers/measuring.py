"""Service times for the simulation, measured on this machine with a real PostgreSQL server.

What a transaction takes of the server's processor is read from the kernel's account of its processes, so it
hardly depends on what else the machine does. Every statement is counted as a round trip, and so are the begin
and the end of a transaction. The round trip itself can't be measured on one machine: it is assumed.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from classes.mixing import class_of, read_exercises  # noqa: E402

from engine.cluster.course_side import CourseQueue  # noqa: E402
from engine.cluster.work_queue import QueueReport, WorkerFacts, WorkQueue  # noqa: E402
from engine.cluster.worker import ClusterWorker  # noqa: E402
from engine.course import Course  # noqa: E402
from engine.model import CodeSubmission, Mode  # noqa: E402
from engine.sandbox import open_runner  # noqa: E402
from engine.store import Attempt, open_store  # noqa: E402
from tests.live.postgres import DurableServer  # noqa: E402

EXERCISES = ("softmax", "sdpa", "causal-mask")
CHUNK = 50
LOOK = 200  # reports that the course's side reads at once, and stores together
NETWORK_MS = 0.3
QUANTILES = 21


@dataclass
class Watched:
    """What one kind of transaction took, each time it was done.

    Parameters
    ----------
    server_ms, own_ms : list of float
        Processor time of the server and of this process.
    trips : int
        Round trips of the last one.
    """

    server_ms: list[float] = field(default_factory=list)
    own_ms: list[float] = field(default_factory=list)
    trips: int = 0


class Probe:
    """Watches all connections that this process makes to the server."""

    def __init__(self) -> None:
        self._backends: set[int] = set()
        self._trips = 0
        sa.event.listen(sa.engine.Engine, "checkout", self._note_backend)
        for name in (
            "before_cursor_execute",
            "commit",
            "begin",
            "rollback",
            "savepoint",
            "release_savepoint",
        ):
            sa.event.listen(sa.engine.Engine, name, self._count)

    def _note_backend(self, connection: Any, *_more: object) -> None:
        self._backends.add(connection.info.backend_pid)

    def _count(self, *_facts: object) -> None:
        self._trips += 1

    @contextmanager
    def watching(self, watched: Watched) -> Iterator[None]:
        """Note what the transaction of the block takes."""
        trips, own, before = self._trips, time.process_time(), self._processor_ms()
        yield
        after = self._processor_ms()
        watched.server_ms.append(sum(ms - before.get(pid, ms) for pid, ms in after.items()))
        watched.own_ms.append(1000 * (time.process_time() - own))
        watched.trips = self._trips - trips

    def _processor_ms(self) -> dict[int, float]:
        spent = {}
        for pid in self._backends:
            with suppress(OSError):  # its connection is closed
                spent[pid] = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6
        return spent


def quantiles(values: list[float], more: float = 0.0) -> dict[str, list[float]]:
    """Return a distribution for the file; the largest percent is left out, which is mostly the machine's."""
    kept = np.quantile(values, np.linspace(0, 0.99, QUANTILES)) + more
    return {"quantiles": [round(float(value), 4) for value in kept]}


def flushes(folder: Path, count: int) -> list[float]:
    """Return milliseconds until one block of the log is on the disk."""
    took = []
    with (folder / "flushed").open("wb", buffering=0) as file:
        file.write(bytes(1 << 20))  # as the log, which is written over: no new room for the file
        os.fsync(file.fileno())
        for number in range(count):
            file.seek(8192 * (number % 100))
            file.write(bytes(8192))
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append(1000 * (time.perf_counter() - begun))
    return took


def measure(rounds: int = 40, programs: int = 150) -> dict[str, Any]:
    """Return service times as the simulation reads them.

    Parameters
    ----------
    rounds : int
        How often each transaction is done.
    programs : int
        That are graded in earnest.
    """
    with tempfile.TemporaryDirectory() as name, closing(DurableServer()) as server:
        folder, probe = Path(name), Probe()
        address = server.new_store()
        course = Course.init(folder / "course", "Measured")
        line = CourseQueue(
            address, bank=course.bank(), secret=course.secret(), title="Measured", mode=Mode.MARKS,
            tier="T2", packages=(),
        )  # fmt: skip
        with closing(line), closing(open_store(address)) as store:
            return _measured(line, store, probe, server.folder, rounds, programs)


def _measured(
    line: CourseQueue, store: Any, probe: Probe, folder: Path, rounds: int, count: int
) -> dict[str, Any]:
    queue = WorkQueue(line.queue.database)
    exercises = [e for e in read_exercises(ROOT / "problems/code") if e.item in EXERCISES]
    pool = list(class_of(count, exercises))
    numbers = itertools.count()

    def some(how_many: int) -> list[Any]:
        """Return other programs each time."""
        made = []
        for number, program in zip(itertools.islice(numbers, how_many), itertools.cycle(pool), strict=False):
            source = f"# {number}\n{program.source}"
            submission = CodeSubmission(source, f"{program.item}.py", f"{number:064x}")
            made.append(line.program(f"s{number}", program.item, submission))
        return made

    facts = WorkerFacts("measured/1", 1, "T1", "", "")
    grading, texts = _graded(line, queue, some(count))
    worker = queue.register_worker(facts)
    line.queue.forget([each.program for each in line.queue.reports_of(line.run, len(texts))])

    def report(program: int, number: int) -> QueueReport:
        return QueueReport(program, texts[number % len(texts)], None, "measured/1", 0.05)

    def hand_in(watched: Watched, claim: Watched) -> None:
        with probe.watching(claim):
            chunk = queue.claim(worker, queue.queues_for(lambda name: True))
        assert chunk is not None
        reports = [report(program.id, n) for n, program in enumerate(chunk.programs)]
        with probe.watching(watched):
            queue.hand_in(worker, chunk, reports)

    names = ("hand_in", "claim_one", "finish_one", "claim", "finish", "heartbeat", "look", "over", "collect",
             "record")  # fmt: skip
    seen = {name: Watched() for name in names}
    for _ in range(rounds):
        (program,) = some(1)
        with probe.watching(seen["hand_in"]):
            (number,) = line.hand_over([program], interactive=True)
        hand_in(seen["finish_one"], seen["claim_one"])
        with probe.watching(seen["look"]):
            assert line.queue.reports_among([number])
        with probe.watching(seen["heartbeat"]):
            queue.beat(worker)
        line.queue.forget([number])
    # All chunks wait in the line while the first one is claimed.
    for _ in range(rounds):
        with probe.watching(seen["over"]):
            line.queue.hand_over(line.course, line.name, "marks", line.run, _of_one(some, CHUNK), chunk=CHUNK)
    for _ in range(rounds):
        hand_in(seen["finish"], seen["claim"])
    collected = 0
    while True:
        with probe.watching(seen["collect"]):
            came = line.queue.reports_of(line.run)
            line.queue.forget([each.program for each in came])
        if not came:
            break
        collected += len(came)
        _record(line, store, came, probe, seen["record"], [next(numbers) for _ in came])
    assert collected == rounds * CHUNK
    return _as_file(seen, grading, flushes(folder, 300), collected)


def _of_one(some: Callable[[int], list[Any]], count: int) -> list[Any]:
    """Return programs of one exercise, as chunks hold them."""
    made = some(count * len(EXERCISES))
    return [program for program in made if program.item == made[0].item][:count]


def _graded(line: CourseQueue, queue: WorkQueue, programs: list[Any]) -> tuple[list[float], list[str]]:
    """Grade programs by a real worker; return milliseconds of each, and the reports."""
    line.hand_over(programs)
    with open_runner(slots=1) as runner:
        ClusterWorker(queue, runner, packages=(), slots=1, until_empty=True).run()
    query = sa.text("SELECT seconds, report FROM reports WHERE report IS NOT NULL ORDER BY program")
    with queue.database.read() as connection:
        rows = connection.execute(query).all()
    assert len(rows) == len(programs), "a program wasn't graded"
    return [1000 * row[0] for row in rows], [row[1] for row in rows]


def _record(
    line: CourseQueue,
    store: Any,
    came: Sequence[QueueReport],
    probe: Probe,
    watched: Watched,
    numbers: Sequence[int],
) -> None:
    """Store all marks that one look brings in one transaction, as grade batch does; note what each takes."""
    items = [json.loads(each.report or "")["item"] for each in came]
    with probe.watching(watched):
        attempts = []
        for each, item, number in zip(came, items, numbers, strict=True):
            report = line.as_graded(f"s{number}", item, each)
            assert report is not None
            submission = CodeSubmission(f"# {number}\n" + "x = 1\n" * 30, f"{item}.py", f"{number:064x}")
            attempts.append(Attempt.of_code(f"s{number}", submission, report, started=datetime.now(UTC)))
        assert len(store.record_all(attempts)) == len(came)
    for taken in (watched.server_ms, watched.own_ms):
        taken[-1] /= len(came)


def _as_file(
    seen: dict[str, Watched], grading: list[float], flushed: list[float], collected: int
) -> dict[str, Any]:
    def mean(name: str) -> float:
        return float(np.mean(seen[name].server_ms))

    # The first chunk's share by itself and that of each result, from chunks of one and of many.
    each = max(0.0, (mean("finish") - mean("finish_one")) / (CHUNK - 1))
    of_course = (sum(seen["over"].server_ms) + sum(seen["collect"].server_ms)) / collected
    own = (sum(seen["over"].own_ms) + sum(seen["collect"].own_ms)) / collected
    return {
        "source": f"measured {date.today()} on a machine of {os.cpu_count()} cores, chunks of {CHUNK}; the "
        "network is assumed",
        "grading": quantiles(grading),
        "claim": quantiles(seen["claim"].server_ms),
        "finish": quantiles(seen["finish_one"].server_ms, -min(each, min(seen["finish_one"].server_ms))),
        "finish_each": {"constant": round(each, 4)},
        "hand_in": quantiles(seen["hand_in"].server_ms),
        "heartbeat": quantiles(seen["heartbeat"].server_ms),
        "look": quantiles(seen["look"].server_ms),
        "store": quantiles(seen["record"].server_ms, of_course),
        "course_side": quantiles(seen["record"].own_ms, own),
        "flush": quantiles(flushed),
        "network": {"constant": NETWORK_MS},
        "claim_trips": seen["claim"].trips,
        "finish_trips": seen["finish"].trips,
        "hand_in_trips": seen["hand_in"].trips,
        "store_trips": seen["record"].trips,
        "stored_together": LOOK,
        "heartbeat_every_s": 10.0,
        "collect_every_s": 0.25,
        "look_every_s": 0.05,
    }
