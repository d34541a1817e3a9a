"""A chunk of a class makes way for a program whose report somebody waits for."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator

import pytest

from engine.cluster.course_line import CourseLine, ProgramForQueue
from engine.cluster.fingerprint import QueueName, engine_fingerprint, packages_fingerprint
from engine.cluster.work_queue import QueuedProgram, WorkQueue
from engine.cluster.worker import ClusterWorker
from engine.errors import StoreError
from engine.model import GradeReport, Mode, Outcome
from engine.store.database import Database
from tests.unit.cluster.conftest import COURSE, VERSION, claim, new_worker, rows

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

QUEUE = str(QueueName(COURSE, "T2", packages_fingerprint(()), engine_fingerprint()))
PATIENCE_S = 60.0


def hand_over(database: Database, students: list[str], *, interactive: bool = False) -> None:
    handed = [ProgramForQueue(s, "softmax", VERSION, f"hash {s}", "code") for s in students]
    CourseLine(database).hand_over(COURSE, QUEUE, "marks", "run", handed, interactive=interactive)


class Tier:
    """What stands for the sandbox."""

    tier = "T1"


class Worker(ClusterWorker):
    """A worker of one slot; while it grades `at`, students hand in by hand, and it hears of that."""

    def __init__(self, database: Database, at: str, hand_in: list[str]) -> None:
        super().__init__(WorkQueue(database), Tier(), packages=(), slots=1)  # type: ignore[arg-type]
        self.begun: list[str] = []
        self._database, self._at, self._hand_in = database, at, hand_in

    def _grade(self, program: QueuedProgram) -> GradeReport:
        self.begun.append(program.student)
        if program.student == self._at:
            self._knock.clear()
            hand_over(self._database, self._hand_in, interactive=True)
            assert self._knock.wait(PATIENCE_S), "the server's notice didn't come"
        return GradeReport("softmax", "v1", Outcome.RIGHT, 10.0, 10.0, mode=Mode.MARKS)


@pytest.fixture
def idle(database: Database) -> Iterator[Worker]:
    """A worker that isn't started."""
    worker = Worker(database, at="", hand_in=[])
    yield worker
    worker._items.close()


def work(worker: Worker, database: Database, count: int) -> list[str]:
    """Let a worker grade so many programs, and return whose it began, in this order."""
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        end = time.monotonic() + PATIENCE_S
        while rows(database, "SELECT count(*) FROM reports") != [(count,)]:
            assert time.monotonic() < end, worker.begun
            time.sleep(0.02)
    finally:
        worker.stop()
        thread.join()
    return worker.begun


def test_whoever_waits_comes_after_one_program_of_a_class_and_not_after_all(database: Database) -> None:
    hand_over(database, ["a", "b", "c", "d"])
    worker = Worker(database, at="b", hand_in=["x", "y"])
    begun = work(worker, database, 6)
    assert begun[:2] == ["a", "b"] and sorted(begun[2:4]) == ["x", "y"] and begun[4:] == ["c", "d"]
    assert worker.counts.programs == 6 and worker.counts.dropped == 0
    assert rows(database, "SELECT count(*) FROM procrastinate_jobs") == [(0,)]


def test_a_class_handed_over_meanwhile_is_no_reason_to_make_way(database: Database, idle: Worker) -> None:
    hand_over(database, ["a", "b", "c"])
    queue = WorkQueue(database)
    hand_over(database, ["d"])
    assert queue.awaited(idle._serves) == 0
    hand_over(database, ["x"], interactive=True)
    assert queue.awaited(idle._serves) == 1
    assert queue.awaited(lambda name: False) == 0, "work for other workers"
    CourseLine(database).pause(COURSE)
    assert queue.awaited(idle._serves) == 0, "nobody may begin it"


def test_a_second_program_of_a_student_who_is_being_served_is_waited_for_by_no_slot(
    database: Database,
) -> None:
    hand_over(database, ["x"], interactive=True)
    queue, number = WorkQueue(database), new_worker(database)
    assert claim(database, number) is not None
    newer = [ProgramForQueue("x", "softmax", VERSION, "another hash", "code")]
    CourseLine(database).hand_over(COURSE, QUEUE, "marks", "run", newer, interactive=True)
    assert queue.awaited(lambda name: True) == 0
    assert claim(database, number) is None


def test_a_database_that_is_away_stops_no_chunk(database: Database, idle: Worker) -> None:
    hand_over(database, ["a", "b"])
    chunk = WorkQueue(database).claim(new_worker(database), [QUEUE])
    assert chunk is not None
    hand_over(database, ["x"], interactive=True)
    idle._knock.set()
    assert idle._makes_way(chunk) and not idle._makes_way(chunk), "one look for one notice"

    class Away(WorkQueue):
        def awaited(self, serves: object) -> int:
            raise StoreError("the connection to the database server was lost")

    idle._queue = Away(database)
    idle._knock.set()
    assert not idle._makes_way(chunk)
