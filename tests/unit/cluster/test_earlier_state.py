"""A queue that goes back to an earlier state, or is dropped, while programs wait: no mark goes astray."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from engine.cluster import course_side
from engine.cluster.course_line import CourseLine
from engine.cluster.course_side import ClusterExercises, CourseQueue
from engine.cluster.work_queue import ClaimedChunk, QueueReport, WorkerFacts, WorkQueue
from engine.errors import StoreError
from engine.items.bank import builtin_bank
from engine.model import GradeReport, Mode, Outcome
from engine.store.database import Database
from engine.store.sql_tables import encode
from tests.live.postgres import server
from tests.unit.cluster.test_class_on_cluster import (
    PATIENCE_S,
    POINTS,
    SECRET,
    VERSION,
    HandWorker,
    Room,
    room,
    wait,
)
from tests.unit.cluster.test_course_side import Unused, program
from tests.unit.cluster.test_worker_connection import COURSE, Worker, database, hand_over, rows

__all__ = ["database", "room"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

DROPPED = "DROP SCHEMA softmark_queue CASCADE"


def queue_sql(queue: CourseQueue, statement: str) -> None:
    with queue.queue.database.write() as connection:
        connection.execute(sa.text(statement))


@contextmanager
def put_back(address: str, folder: Path) -> Iterator[None]:
    """Bring a database to its state at the beginning of the block, as administrators do."""
    backup = folder / "backup"
    tools = server().programs
    subprocess.run([tools / "pg_dump", "-Fc", "-f", backup, address], check=True)
    yield
    restore = [tools / "pg_restore", "--clean", "--if-exists", "--single-transaction", "-d", address, backup]
    # Who waits looks at the tables all the time: the server breaks the ring of locks now and then.
    wait(lambda: subprocess.run(restore, capture_output=True).returncode == 0)


def reports(chunk: ClaimedChunk, score: float) -> list[QueueReport]:
    """Reports of a worker for all programs of a chunk, each with this score."""
    outcome = Outcome.RIGHT if score == POINTS else Outcome.WRONG
    made = GradeReport("softmax", VERSION, outcome, score, POINTS, student="x", mode=Mode.MARKS)
    return [QueueReport(p.id, encode(made), None, "host/1", 0.01) for p in chunk.programs]


def marks(room: Room) -> dict[str | None, float | None]:
    return {attempt.student: attempt.report.score for attempt in room.store.attempts(mode=Mode.MARKS)}


def test_a_number_that_a_restored_backup_gives_again_is_another_program(room: Room, tmp_path: Path) -> None:
    """Neither the worker's report nor the run that waits takes the program that has the number now."""
    with room.queue() as first, room.queue() as second:
        first.version("softmax")
        with put_back(room.address, tmp_path):
            running = room.run(first, {"ada": ["a = 1"]})
            worker = HandWorker(first)
            old = worker.claim()
        later = room.run(second, {"bob": ["b = 1"]})
        again = HandWorker(second)
        chunk = again.claim()
        assert [p.id for p in chunk.programs] == [p.id for p in old.programs]
        assert chunk.job == old.job and again.number == worker.number
        # Ada's was right. A worker that lived through it all hands that in, under the number of Bob's.
        assert worker.queue.hand_in(worker.number, old, reports(old, POINTS)) == 0
        (left,) = running.result(PATIENCE_S).ungraded
        assert left.name == "ada-0.py" and "the next run hands it over again" in left.reason
        assert again.queue.hand_in(again.number, chunk, reports(chunk, 0.0)) == 1
        assert later.result(PATIENCE_S).graded == 1
    assert marks(room) == {"ada": None, "bob": 0.0}


def test_a_run_that_collects_for_others_takes_no_program_of_another_student(
    room: Room, tmp_path: Path
) -> None:
    with room.queue() as first, room.queue() as second:
        first.version("softmax")
        with put_back(room.address, tmp_path):
            running = room.run(first, {"ada": ["a = 1"]})
            HandWorker(first).claim()
        # Bob's run is killed, and its report lies there for long enough to be anybody's.
        killed = room.run(second, {"bob": ["b = 1"]})
        worker = HandWorker(second)
        chunk = worker.claim()
        room.stops[1].set()
        assert killed.result(PATIENCE_S).graded == 0
        assert worker.queue.hand_in(worker.number, chunk, reports(chunk, POINTS)) == 1
        queue_sql(second, "UPDATE reports SET handed_in = now() - interval '1 minute'")
        assert len(running.result(PATIENCE_S).ungraded) == 1
        assert [report.program for report in second.queue.reports_of(second.run)] == [chunk.programs[0].id]
    assert marks(room) == {"ada": None}


@pytest.mark.parametrize("change", ["restored", "dropped", "course removed"])
def test_a_student_on_the_site_waits_on_and_gets_the_own_report(
    room: Room, tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site runs for months: it brings back what the queue has lost of its course."""
    monkeypatch.setattr(course_side, "_GONE_S", PATIENCE_S)
    with room.queue() as queue, room.queue() as other:
        other.version("softmax")
        exercises = ClusterExercises(
            builtin_bank(), secret=SECRET, mode=Mode.MARKS, course_queue=queue, interactive=True
        )
        with put_back(room.address, tmp_path) if change == "restored" else no_change():
            ada = room.threads.submit(exercises.grade, "softmax", program("ada"), Unused(), "ada")
            worker = HandWorker(queue)
            old = worker.claim()
            (number,) = (p.id for p in old.programs)
            if change == "dropped":
                queue_sql(queue, DROPPED)
            elif change == "course removed":
                queue_sql(queue, "DELETE FROM courses")
        if change == "restored":
            # The number is Bob's now; his report is no answer to Ada.
            bob = other.program("bob", "softmax", program("bob"))
            assert other.hand_over([bob]) == [number]
        monkeypatch.setattr(course_side, "_GONE_S", 0.1)
        wait(lambda: has_waiting(queue, "ada"))
        if change != "dropped":  # what is in hand ends, and counts for nobody
            assert worker.queue.hand_in(worker.number, old, reports(old, 0.0)) == 0
        worker = HandWorker(queue)
        serve(worker, "ada", POINTS)
        graded = ada.result(PATIENCE_S)
        assert (graded.score, graded.student) == (POINTS, "ada")
        # The next one is handed over as ever.
        cat = room.threads.submit(exercises.grade, "softmax", program("cat"), Unused(), "cat")
        serve(worker, "cat", 0.0)
        assert cat.result(PATIENCE_S).score == 0.0


def serve(worker: HandWorker, word: str, score: float) -> None:
    """Grade what comes until it was a program in whose code a word is; all others are wrong."""
    is_it = False
    while not is_it:
        chunk = worker.claim()
        is_it = f'"{word}"' in chunk.programs[0].code
        worker.queue.hand_in(worker.number, chunk, reports(chunk, score if is_it else 0.0))


@contextmanager
def no_change() -> Iterator[None]:
    yield


def has_waiting(queue: CourseQueue, word: str) -> bool:
    """Return whether a program waits in whose code a word is."""
    try:
        with queue.queue.database.read() as connection:
            query = "SELECT count(*) FROM programs WHERE code LIKE :word"
            return bool(connection.execute(sa.text(query), {"word": f'%"{word}"%'}).scalar())
    except StoreError:
        return False


def test_a_class_whose_queue_is_dropped_ends_with_a_reason_and_is_graded_by_the_next_run(room: Room) -> None:
    with room.queue() as queue:
        running = room.run(queue, {"ada": ["a = 1"]})
        HandWorker(queue).claim()
        queue_sql(queue, DROPPED)
        with pytest.raises(StoreError, match="the tables aren't in the database any more") as error:
            running.result(PATIENCE_S)
        assert "run again" in str(error.value)
    with room.queue() as queue:
        running = room.run(queue, {"ada": ["a = 1"]})
        worker = HandWorker(queue)
        worker.hand_in(worker.claim())
        assert running.result(PATIENCE_S).graded == 1


def test_a_course_that_is_taken_out_while_a_class_is_handed_over_comes_back(room: Room) -> None:
    with room.queue() as queue:
        queue.version("softmax")
        queue_sql(queue, "DELETE FROM courses")
        running = room.run(queue, {"ada": ["a = 1"]})
        worker = HandWorker(queue)
        worker.hand_in(worker.claim())
        assert running.result(PATIENCE_S).graded == 1
        with queue.queue.database.read() as connection:
            assert connection.execute(sa.text("SELECT title FROM courses")).scalar() == "Nets"


def test_a_worker_gives_back_what_only_a_backup_says_it_has_in_hand(database: Database) -> None:
    """The worker lives, so nobody takes the job from it; and it has ended it long ago."""
    queue, line = WorkQueue(database), CourseLine(database)
    worker = Worker(queue)
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        wait(lambda: rows(database, "SELECT count(*) FROM workers") == [(1,)])
        line.pause(COURSE)
        hand_over(database, 1)
        with database.write() as connection:
            mine = "UPDATE procrastinate_jobs SET status = 'doing', worker_id = (SELECT id FROM workers)"
            connection.execute(sa.text(mine))
        line.pause(COURSE, False)
        wait(lambda: worker.begun == ["s0"])
    finally:
        worker.stop()
        thread.join()


def test_a_worker_whose_number_is_another_ones_takes_a_new_one(database: Database) -> None:
    """Two workers of one number would take each other's jobs for what they have in hand themselves."""
    queue = WorkQueue(database)
    number = queue.register_worker(WorkerFacts("lab-1/7", 1, "T1", "", ""))
    assert queue.beat(number, None, "lab-1/7").is_known
    assert not queue.beat(number, None, "lab-2/9").is_known
