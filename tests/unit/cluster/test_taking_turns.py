"""What failed at one worker is tried by others, and a student's endless loops have one slot at most."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from engine.cluster import work_queue
from engine.cluster.course_line import CourseLine, ProgramForQueue
from engine.cluster.fingerprint import QueueName, engine_fingerprint, packages_fingerprint
from engine.cluster.queue_tables import queued_items
from engine.cluster.work_queue import MOST_TRIES, ClaimedChunk, QueuedProgram, QueueReport, WorkQueue
from engine.cluster.worker import ClusterWorker
from engine.errors import EngineError
from engine.model import Check, GradeReport, Mode, Outcome, Verdict
from engine.store.database import Database
from tests.unit.cluster.conftest import (
    COURSE,
    VERSION,
    claim,
    die,
    graded,
    hand_over,
    new_worker,
    rows,
    students_of,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

PATIENCE_S = 60.0


def rested(database: Database, seconds: float) -> None:
    """Let what rests be over its rest for so long."""
    change = "UPDATE procrastinate_jobs SET scheduled_at = now() - make_interval(secs => :s)"
    with database.write() as connection:
        connection.execute(sa.text(f"{change} WHERE scheduled_at IS NOT NULL"), {"s": seconds})


def fail(database: Database, worker: int) -> int:
    """Let a worker claim, fail at the first program of its chunk, and return that program's number."""
    chunk = claim(database, worker)
    assert chunk is not None
    WorkQueue(database).hand_in(worker, chunk, [], failed=chunk.programs[0].id, reason="no sandbox")
    rested(database, 0.0)
    return chunk.programs[0].id


def tried_by(database: Database, program: int) -> list[str]:
    (row,) = rows(database, f"SELECT tried_by FROM programs WHERE id = {program}")
    assert isinstance(row[0], list)
    return row[0]


def test_what_one_machine_cannot_grade_is_tried_by_others(database: Database) -> None:
    (number,) = hand_over(database, ["a"])
    names = ("lab-1/1", "lab-1/2", "lab-2/1", "lab-3/1")
    first, beside, second, third = (new_worker(database, name) for name in names)
    assert fail(database, first) == number
    # Neither the worker itself nor its machine, as long as another one may come.
    for _ in range(3):
        assert claim(database, first) is None and claim(database, beside) is None
    assert fail(database, second) == number
    assert claim(database, second) is None and claim(database, first) is None
    assert CourseLine(database).reports_of("run") == []
    assert fail(database, third) == number
    (report,) = CourseLine(database).reports_of("run")
    assert report.report is None and report.reason == "no sandbox"
    assert tried_by(database, number) == ["lab-1/1", "lab-2/1", "lab-3/1"]
    # As if it were new, when somebody lets it be tried again.
    assert CourseLine(database).try_again([number]) and tried_by(database, number) == []
    assert students_of(claim(database, first)) == ["a"]


def test_where_nobody_else_comes_the_same_machine_tries_again_and_then_the_same_worker(
    database: Database,
) -> None:
    (number,) = hand_over(database, ["a"])
    first, beside = new_worker(database, "lab-1/1"), new_worker(database, "lab-1/2")
    assert fail(database, first) == number
    rested(database, work_queue._SAME_MACHINE_S + 1)
    assert claim(database, first) is None
    assert fail(database, beside) == number
    rested(database, work_queue._SAME_MACHINE_S + 1)
    assert claim(database, first) is None and claim(database, beside) is None
    rested(database, work_queue._SAME_WORKER_S + 1)
    assert fail(database, first) == number
    assert tried_by(database, number) == ["lab-1/1", "lab-1/2"]
    assert len(CourseLine(database).reports_of("run")) == 1 and MOST_TRIES == 3


def test_a_worker_goes_on_with_other_work_and_leaves_the_job_as_it_is(database: Database) -> None:
    hand_over(database, ["a", "b", "c"], chunk=1)
    first, second = new_worker(database, "lab-1/1"), new_worker(database, "lab-2/1")
    number = fail(database, first)
    waiting = "SELECT id, attempts, priority, status::text, args FROM procrastinate_jobs"
    before = rows(database, f"{waiting} WHERE args->'programs' @> '[{number}]'")
    assert students_of(claim(database, first)) == ["b"]
    assert rows(database, f"{waiting} WHERE args->'programs' @> '[{number}]'") == before
    # For the other one it stands where it stood: in front.
    assert students_of(claim(database, second)) == ["a"]


def test_a_worker_passes_over_so_many_and_no_more(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_over(database, ["a", "b", "c"], chunk=1)
    worker = new_worker(database, "lab-1/1")
    failed = [fail(database, worker) for _ in range(3)]
    assert len(set(failed)) == 3 and claim(database, worker) is None
    monkeypatch.setattr(work_queue, "_MOST_PASSED", 2)
    assert students_of(claim(database, worker)) == ["c"]


def test_what_lost_one_machine_its_worker_is_tried_on_another_first(database: Database) -> None:
    (number,) = hand_over(database, ["poison"])
    queue, workers = WorkQueue(database), [new_worker(database, f"lab-1/{n}") for n in range(3)]
    for worker in workers[:2]:  # the first time others may have been at work beside it
        assert students_of(claim(database, worker)) == ["poison"]
        die(database, worker)
        assert queue.take_from_the_dead().waiting == (number,)
    assert tried_by(database, number) == ["lab-1/1"]
    assert claim(database, workers[2]) is None
    chunk = claim(database, new_worker(database, "lab-2/1"))
    assert chunk is not None and chunk.is_suspect


@contextmanager
def at_work(*workers: ClusterWorker) -> Iterator[None]:
    threads = [threading.Thread(target=worker.run) for worker in workers]
    try:
        for thread in threads:
            thread.start()
        yield
    finally:
        for worker in workers:
            worker.stop()
        for thread in threads:
            thread.join()


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


class Tier:
    """What stands for the sandbox."""

    tier = "T1"


QUEUE = str(QueueName(COURSE, "T2", packages_fingerprint(()), engine_fingerprint()))


class Worker(ClusterWorker):
    """A worker on a machine of its own that grades by a function."""

    def __init__(self, database: Database, machine: str, grade: Callable[[QueuedProgram], Verdict]) -> None:
        super().__init__(WorkQueue(database), Tier(), packages=(), slots=1)  # type: ignore[arg-type]
        self.facts = work_queue.WorkerFacts(f"{machine}/1", 1, "T1", self.facts.engine, self.facts.packages)
        self._by = grade

    def _grade(self, program: QueuedProgram) -> GradeReport:
        checks = (Check("c", self._by(program), 0.0, 10.0),)
        return GradeReport(program.item, VERSION, Outcome.WRONG, 0.0, 10.0, checks=checks, mode=Mode.MARKS)


def test_a_machine_that_fails_at_everything_costs_no_program_its_mark(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_queue, "_REST_S", 0.05)
    monkeypatch.setattr("engine.cluster.worker._FIRST_REST_S", 0.0)
    students = [f"s{n}" for n in range(12)]
    handed = [ProgramForQueue(s, "softmax", VERSION, s, "code") for s in students]
    CourseLine(database).hand_over(COURSE, QUEUE, "marks", "run", handed, chunk=1)

    def fail_at_all(program: QueuedProgram) -> Verdict:
        raise EngineError("no space left on the disk")

    def do_well(program: QueuedProgram) -> Verdict:
        time.sleep(0.1)
        return Verdict.PASSED

    with at_work(Worker(database, "lab-1", fail_at_all), Worker(database, "lab-2", do_well)):
        until(lambda: rows(database, "SELECT count(*) FROM reports") == [(len(students),)])
    assert rows(database, "SELECT count(*) FROM reports WHERE report IS NULL") == [(0,)]
    tried = rows(database, "SELECT tries, tried_by FROM programs WHERE tries > 0")
    assert tried and {(tries, *names) for tries, names in tried} == {(1, "lab-1/1")}  # type: ignore[misc]


# ---- one student's endless loops

ITEMS = [f"item-{n:02}" for n in range(12)]
LOOPER = "s05"


def slow(chunk: ClaimedChunk) -> list[QueueReport]:
    return [QueueReport(p.id, "{}", None, "host/1", 1.0, is_slow=p.student == LOOPER) for p in chunk.programs]


def test_after_the_first_loop_a_students_programs_are_graded_one_at_a_time(database: Database) -> None:
    queue = WorkQueue(database)
    students = ["s04", LOOPER, "s06"]
    numbers = hand_over(database, students) + hand_over(database, students, "sdpa")
    with database.write() as connection:  # and once more, as if with other programs
        connection.execute(sa.text("UPDATE programs SET submission = submission || ' before'"))
    numbers += hand_over(database, students) + hand_over(database, students, "sdpa")
    first, *others = (new_worker(database, f"host/{n}") for n in range(5))
    # Before it is known, all stand together.
    chunk = claim(database, first)
    assert students_of(chunk) == students and chunk is not None
    queue.hand_in(first, chunk, slow(chunk))
    held = [claim(database, worker) for worker in others]
    seen = [students_of(chunk) for chunk in held if chunk is not None]
    assert sorted(seen) == [["s04", "s06"]] * 3 + [[LOOPER]]
    assert claim(database, first) is None
    (looping,) = [(w, c) for w, c in zip(others, held, strict=True) if students_of(c) == [LOOPER]]
    assert looping[1] is not None
    queue.hand_in(looping[0], looping[1], slow(looping[1]))
    # The next one of the same student, and no second one beside it.
    after = claim(database, first)
    assert students_of(after) == [LOOPER] and after is not None and claim(database, looping[0]) is None
    queue.hand_in(first, after, slow(after))
    last = claim(database, first)
    assert students_of(last) == [LOOPER] and last is not None
    queue.hand_in(first, last, slow(last))
    for worker, chunk in zip(others, held, strict=True):
        if chunk is not None and worker != looping[0]:
            queue.hand_in(worker, chunk, graded(chunk))
    assert rows(database, "SELECT count(*) FROM reports") == [(len(set(numbers)),)]
    assert rows(database, "SELECT count(*) FROM procrastinate_jobs") == [(0,)]


def test_a_class_without_loops_is_left_in_its_chunks(database: Database) -> None:
    for item in ("softmax", "sdpa"):
        hand_over(database, ["a", "b", "c"], item)
    worker, queue = new_worker(database), WorkQueue(database)
    for _ in range(2):
        chunk = claim(database, worker)
        assert students_of(chunk) == ["a", "b", "c"] and chunk is not None
        queue.hand_in(worker, chunk, graded(chunk))
    assert rows(database, "SELECT count(*) FROM programs WHERE one_by_one") == [(0,)]


class Loops:
    """Grades a class, one of whose students hands in loops only, and notes when each of them runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.running = 0
        self.loops: list[int] = []  # how many ran, with it, when each began
        self.others_ended_after = 0  # loops

    def grade(self, program: QueuedProgram) -> Verdict:
        if program.student != LOOPER:
            time.sleep(0.01)
            with self._lock:
                self.others_ended_after = len(self.loops)
            return Verdict.PASSED
        with self._lock:
            self.running += 1
            self.loops.append(self.running)
        time.sleep(0.6)
        with self._lock:
            self.running -= 1
        return Verdict.TIMED_OUT


def test_the_loops_of_one_student_hold_up_nobody_else_on_three_workers(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "engine.cluster.worker._LONGEST_CHUNK_S", 0.4
    )  # as a real loop takes longer than a chunk may
    students = [f"s{n:02}" for n in range(15)]
    with database.write() as connection:
        row = {"course": COURSE, "version": VERSION, "seed": "00", "files": "{}"}
        connection.execute(sa.insert(queued_items), [row | {"item": item} for item in ITEMS])
    handed = [
        ProgramForQueue(student, item, VERSION, f"{student} {item}", "code")
        for item in ITEMS
        for student in students
    ]
    CourseLine(database).hand_over(COURSE, QUEUE, "marks", "run", handed)
    loops = Loops()
    with at_work(*(Worker(database, f"lab-{n}", loops.grade) for n in range(3))):
        until(lambda: rows(database, "SELECT count(*) FROM reports") == [(len(handed),)])
    assert len(loops.loops) == len(ITEMS)
    # Each worker may have begun one before the first was reported; from then on one at a time.
    assert max(loops.loops[:3]) <= 3 and set(loops.loops[3:]) == {1}
    # In chunks with everybody's, the last of them would be among the last to be graded.
    assert loops.others_ended_after < len(ITEMS) - 2
    assert rows(database, "SELECT count(*) FROM reports WHERE report IS NULL") == [(0,)]
