"""A class whose programs are taken, cancelled or handed over by others meanwhile: each gets its own mark."""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import engine.cluster.class_on_cluster as class_module
from engine.cluster.class_on_cluster import grade_on_cluster
from engine.cluster.course_side import CourseQueue
from engine.cluster.work_queue import ClaimedChunk, QueueReport, WorkerFacts, WorkQueue
from engine.hand_ins import FileKind, HandedFile, IntakeResult, StudentFiles
from engine.items.bank import builtin_bank
from engine.model import GradeReport, Mode, Outcome
from engine.runs import BatchResult, CodeExercises
from engine.store import Store, open_store
from engine.store.sql_tables import encode
from tests.live.postgres import server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

SECRET = b"a course's secret"
VERSION, POINTS = builtin_bank().version("softmax"), builtin_bank().load("softmax").points
PATIENCE_S, QUIET_S = 30.0, 0.2


@dataclass
class Room:
    """A course with its queue, and the files of its class: student → programs, oldest first."""

    folder: Path
    address: str
    store: Store
    threads: ThreadPoolExecutor
    stops: list[threading.Event] = field(default_factory=list)

    def intake(self, class_of: dict[str, list[str]]) -> IntakeResult:
        students = []
        for student, programs in class_of.items():
            files = []
            for number, source in enumerate(programs):
                path = self.folder / f"{student}-{number}.py"
                path.write_text(source)
                sha256 = hashlib.sha256(source.encode()).hexdigest()
                files.append(HandedFile(path, path.name, FileKind.CODE, "softmax", sha256, sequence=number))
            students.append(StudentFiles(student, tuple(files)))
        return IntakeResult(tuple(students))

    @contextmanager
    def queue(self, tier: str = "T2", packages: tuple[str, ...] = ()) -> Iterator[CourseQueue]:
        opened = CourseQueue(
            self.address,
            bank=builtin_bank(),
            secret=SECRET,
            title="Nets",
            mode=Mode.MARKS,
            tier=tier,
            packages=packages,
        )
        try:
            yield opened
        finally:
            opened.halt.set()
            opened.close()

    def run(self, queue: CourseQueue, class_of: dict[str, list[str]]) -> Future[BatchResult]:
        """Grade a class in a thread of its own, as a process would."""
        stop = threading.Event()
        self.stops.append(stop)
        intake = self.intake(class_of)
        code = CodeExercises(builtin_bank(), secret=SECRET, mode=Mode.MARKS)
        return self.threads.submit(
            grade_on_cluster,
            intake,
            store=self.store,
            code=code,
            course_queue=queue,
            mode=Mode.MARKS,
            progress=lambda total: nullcontext(lambda: None),
            stop=stop,
        )

    def marks(self) -> list[float | None]:
        return [attempt.report.score for attempt in self.store.attempts(mode=Mode.MARKS)]


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    monkeypatch.setattr("engine.cluster.course_side._QUIET_S", QUIET_S)
    monkeypatch.setattr(class_module, "_LEFT_S", QUIET_S)
    monkeypatch.setattr(class_module, "POLL_S", 0.02)
    address = server().new_store()
    with open_store(address) as store, ThreadPoolExecutor(4) as threads:
        made = Room(tmp_path, address, store, threads)
        yield made
        for stop in made.stops:
            stop.set()


class HandWorker:
    """A worker whose moves a test makes one by one."""

    def __init__(self, queue: CourseQueue) -> None:
        self.queue = WorkQueue(queue.queue.database)
        self.name = queue.name
        self.number = self.queue.register_worker(WorkerFacts("host/1", 1, "T1", "", ""))

    def claim(self) -> ClaimedChunk:
        """Begin the next chunk, when there is one."""
        end = time.monotonic() + PATIENCE_S
        while (chunk := self.queue.claim(self.number, [self.name])) is None:
            assert time.monotonic() < end, "nothing waits"
            time.sleep(0.02)
        return chunk

    def hand_in(self, chunk: ClaimedChunk, *places: int) -> int:
        """Hand in full marks for programs of a chunk: those in these places of it, or all."""
        chosen = [chunk.programs[place] for place in places] or chunk.programs
        return self.queue.hand_in(self.number, chunk, [report(program.id) for program in chosen])


def report(number: int) -> QueueReport:
    made = GradeReport("softmax", VERSION, Outcome.RIGHT, POINTS, POINTS, student="x", mode=Mode.MARKS)
    return QueueReport(number, encode(made), None, "host/1", 0.01)


def wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_later_program_keeps_its_report_while_an_earlier_one_is_graded(room: Room) -> None:
    """Results of one student are stored in their order, so the later one waits here, and in no queue."""
    with room.queue() as queue:
        running = room.run(queue, {"ada": ["a = 1", "a = 2"]})
        worker = HandWorker(queue)
        worker.hand_in(worker.claim(), 1)
        time.sleep(4 * QUIET_S)
        worker.hand_in(worker.claim())
        result = running.result(PATIENCE_S)
    assert (result.graded, result.ungraded) == (2, ())
    assert room.marks() == [POINTS, POINTS]


def test_reports_of_a_run_that_is_gone_are_collected_by_the_one_that_waits(room: Room) -> None:
    class_of = {"ada": ["a = 1"], "bob": ["b = 1"]}
    with room.queue() as first, room.queue() as second:
        running = room.run(first, class_of)
        worker = HandWorker(first)
        chunk = worker.claim()
        later = room.run(second, class_of)
        numbers = [program.id for program in chunk.programs]
        wait(lambda: set(first.queue.runs_of(numbers).values()) == {second.run})
        room.stops[1].set()  # as if it were killed: it collects nothing
        assert later.result(PATIENCE_S).graded == 0
        worker.hand_in(chunk)
        result = running.result(PATIENCE_S)
    assert (result.graded, result.ungraded) == (2, ())
    assert room.marks() == [POINTS, POINTS]


def test_two_runs_of_a_class_give_each_program_one_mark(room: Room) -> None:
    class_of = {f"s{number}": [f"x = {number}"] for number in range(20)}
    with room.queue() as first, room.queue() as second:
        runs = [room.run(first, class_of), room.run(second, class_of)]
        worker = HandWorker(first)
        chunk = worker.claim()
        wait(lambda: len(first.queue.runs_of([program.id for program in chunk.programs])) == 20)
        worker.hand_in(chunk)
        results = [run.result(PATIENCE_S) for run in runs]
    assert [result.ungraded for result in results] == [(), ()]
    assert sorted(result.graded + result.graded_before for result in results) == [20, 20]
    assert room.marks() == [POINTS] * 20


def test_what_was_taken_out_of_the_queue_is_ungraded(room: Room) -> None:
    with room.queue() as queue:
        running = room.run(queue, {"ada": ["a = 1", "a = 2"]})
        worker = HandWorker(queue)
        chunk = worker.claim()
        assert queue.queue.cancel([chunk.programs[0].id]) == 1
        worker.hand_in(chunk)
        result = running.result(PATIENCE_S)
    (left,) = result.ungraded
    assert left.name == "ada-0.py" and left.reason.startswith("it was taken out of the queue")
    assert sorted(room.marks(), key=str) == [POINTS, None]


@pytest.mark.parametrize("before", [{"tier": "T3"}, {"packages": ("einops",)}])
@pytest.mark.parametrize("is_graded", [False, True])
def test_what_waits_for_other_workers_is_handed_over_again(
    room: Room, before: dict[str, Any], is_graded: bool
) -> None:
    """A killed run demanded less, or the engine was another one: nobody who judges otherwise may decide."""
    class_of = {"ada": ["a = 1"]}
    with room.queue(**before) as old, room.queue() as new:
        running = room.run(old, class_of)
        others = HandWorker(old)
        chunk = others.claim()
        room.stops[0].set()
        running.result(PATIENCE_S)
        if is_graded:
            others.hand_in(chunk)
        running = room.run(new, class_of)
        worker = HandWorker(new)
        mine = worker.claim()
        assert is_graded or others.hand_in(chunk) == 0, "it counts for nobody"
        time.sleep(4 * QUIET_S)
        assert room.marks() == []
        worker.hand_in(mine)
        assert running.result(PATIENCE_S).graded == 1
        assert room.marks() == [POINTS]
        jobs = "SELECT count(*) FROM procrastinate_jobs"
        with new.queue.database.read() as connection:
            assert connection.execute(sa.text(jobs)).scalar() == 0
