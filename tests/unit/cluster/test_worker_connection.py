"""A worker whose connection to the database breaks: nothing is lost, and no program is blamed for it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from engine.cluster.course_line import CourseLine, ProgramForQueue
from engine.cluster.fingerprint import QueueName, engine_fingerprint, packages_fingerprint
from engine.cluster.queue_tables import make_queue, open_queue_database, queued_items, require_queue
from engine.cluster.work_queue import JOBS_CHANNEL, ClaimedChunk, QueuedProgram, WorkerFacts, WorkQueue
from engine.cluster.worker import (
    _NOTICES_A_SECOND,
    _NOTICES_AT_ONCE,
    ClusterWorker,
    WorkerTimes,
    when_there,
)
from engine.errors import StoreAwayError, StoreError
from engine.model import GradeReport, Mode, Outcome
from engine.store.database import Database
from tests.live.postgres import PASSWORD, server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

COURSE = "c" * 12
QUEUE = str(QueueName(COURSE, "T2", packages_fingerprint(()), engine_fingerprint()))
PATIENCE_S = 60.0
BEAT = WorkerTimes(beat_s=0.1, dead_after_s=0.5, look_s=0.2)


@pytest.fixture
def database() -> Iterator[Database]:
    opened = open_queue_database(server().new_database())
    make_queue(opened)
    CourseLine(opened).register_course(COURSE, "Course")
    row = {"course": COURSE, "item": "softmax", "version": "v1", "seed": "00", "files": "{}"}
    with opened.write() as connection:
        connection.execute(sa.insert(queued_items).values(row))
    yield opened
    opened.close()


def hand_over(database: Database, count: int, chunk: int = 50) -> None:
    handed = [ProgramForQueue(f"s{n}", "softmax", "v1", f"hash {n}", "code") for n in range(count)]
    CourseLine(database).hand_over(COURSE, QUEUE, "marks", "run", handed, chunk=chunk)


class Tier:
    """What stands for the sandbox."""

    tier = "T1"


class Worker(ClusterWorker):
    """A worker that grades without a sandbox; `breaks` so often, its item can't be read from the database."""

    def __init__(self, queue: WorkQueue, *, breaks: int = 0, times: WorkerTimes = BEAT) -> None:
        super().__init__(queue, Tier(), packages=(), slots=1, times=times)  # type: ignore[arg-type]
        self.breaks = breaks
        self.is_away = False
        self.begun: list[str] = []

    def _grade(self, program: QueuedProgram) -> GradeReport:
        self.is_away = self.breaks > 0
        if self.is_away:
            self.breaks -= 1
            raise StoreError("the connection to the database server was lost")
        self.begun.append(program.student)
        return GradeReport("softmax", "v1", Outcome.RIGHT, 10.0, 10.0, mode=Mode.MARKS)


def work_until_all_are_graded(worker: Worker, database: Database, count: int) -> list[tuple[Any, ...]]:
    """Let a worker run until there are so many reports, and return (losses, tries) of every program."""
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        end = time.monotonic() + PATIENCE_S
        while rows(database, "SELECT count(*) FROM reports WHERE report IS NOT NULL") != [(count,)]:
            assert time.monotonic() < end, rows(database, "SELECT id, status FROM procrastinate_jobs")
            time.sleep(0.05)
    finally:
        worker.stop()
        thread.join()
    assert rows(database, "SELECT count(*) FROM procrastinate_jobs") == [(0,)]
    return rows(database, "SELECT losses, tries FROM programs")


def rows(database: Database, statement: str) -> list[tuple[Any, ...]]:
    with database.read() as connection:
        return [tuple(row) for row in connection.execute(sa.text(statement))]


class ForgetfulQueue(WorkQueue):
    """A queue whose first answer to a claim never arrives: the server has committed it."""

    is_well = False

    def claim(self, worker: int, queues: Sequence[str]) -> ClaimedChunk | None:
        chunk = super().claim(worker, queues)
        if chunk is not None and not self.is_well:
            self.is_well = True
            raise StoreError("the connection to the database server was lost")
        return chunk


def test_a_claim_whose_answer_is_lost_doesnt_stay_with_its_worker(database: Database) -> None:
    """The worker shows that it lives, so nobody else would take the chunk."""
    hand_over(database, 5, chunk=2)
    queue = ForgetfulQueue(database)
    worker = Worker(queue)
    assert work_until_all_are_graded(worker, database, 5) == [(0, 0)] * 5, "nobody died over it"
    assert queue.is_well and sorted(worker.begun) == [f"s{n}" for n in range(5)]


def test_what_a_worker_has_in_hand_isnt_given_back(database: Database) -> None:
    hand_over(database, 3, chunk=1)
    queue = WorkQueue(database)
    facts = WorkerFacts("host/1", 1, "T1", "", "")
    mine, other = queue.register_worker(facts), queue.register_worker(facts)
    chunks = [queue.claim(number, [QUEUE]) for number in (mine, mine, other)]
    held, lost, others = (chunk.job for chunk in chunks if chunk is not None)
    assert queue.give_back(mine, [held]) == 1
    left = dict(rows(database, "SELECT id, status::text FROM procrastinate_jobs"))
    assert left == {held: "doing", lost: "todo", others: "doing"}
    again = queue.claim(other, [QUEUE])
    assert again is not None and again.job == lost and not again.is_suspect
    # Whoever had it hands in after all: its report counts, and the job stays with the other one.
    (first,) = (chunk for chunk in chunks if chunk is not None and chunk.job == lost)
    assert first.attempt != again.attempt


@pytest.mark.parametrize("breaks", [1, 4])
def test_a_database_that_is_away_while_an_item_is_read_is_no_fault_of_the_program(
    database: Database, breaks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_over(database, 3)
    worker = Worker(WorkQueue(database), breaks=breaks)
    up = WorkQueue.seconds_up

    def seconds_up(queue: WorkQueue) -> float:
        if worker.is_away:
            raise StoreError("the database server can't be reached")
        return up(queue)

    monkeypatch.setattr(WorkQueue, "seconds_up", seconds_up)
    assert work_until_all_are_graded(worker, database, 3) == [(0, 0)] * 3
    assert worker.counts.faults == {} and len(worker.begun) == 3


def test_a_database_that_refuses_an_item_is_a_fault_that_is_said(database: Database) -> None:
    hand_over(database, 2)
    worker = Worker(WorkQueue(database), breaks=2)
    # The program that met it waits a while, and the other one is graded meanwhile.
    assert sorted(work_until_all_are_graded(worker, database, 2)) == [(0, 0), (0, 1)]
    assert [*worker.counts.faults.values()] == [1]


class AwayQueue(WorkQueue):
    """A queue that can't be reached for a while by whoever shows that it lives."""

    until = 0.0

    def beat(self, worker: int, fault: str | None = None) -> Any:
        if time.monotonic() < self.until:
            raise StoreError("the database server can't be reached")
        return super().beat(worker, fault)


def test_after_the_database_was_away_everybody_has_time_to_show_that_they_live(database: Database) -> None:
    """The other worker was cut off as long, and comes back a moment later: it isn't dead."""
    dead_after_s, away_s = 3.0, 4.0  # a busy machine may take a second for what is a moment elsewhere
    hand_over(database, 1)
    queue = AwayQueue(database)
    other = queue.register_worker(WorkerFacts("other/1", 1, "T1", "", ""), dead_after_s)
    chunk = queue.claim(other, [QUEUE])
    assert chunk is not None
    queue.until = time.monotonic() + away_s
    worker = Worker(queue, times=WorkerTimes(BEAT.beat_s, dead_after_s, BEAT.look_s))
    thread = threading.Thread(target=worker.run)
    # It begins while the server is up for long enough, and the other one has just been heard of.
    thread.start()
    try:
        time.sleep(away_s + 0.3)  # it has been back for a moment
        assert rows(database, "SELECT losses FROM programs") == [(0,)]
        assert queue.hand_in(other, chunk, []) == 0
        end = time.monotonic() + PATIENCE_S
        while not worker.begun:
            assert time.monotonic() < end
            time.sleep(0.05)
    finally:
        worker.stop()
        thread.join()
    assert rows(database, "SELECT losses FROM programs") == [(0,)]


def test_a_server_that_has_just_started_has_heard_of_nobody_yet(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_over(database, 1)
    queue = WorkQueue(database)
    other = queue.register_worker(WorkerFacts("other/1", 1, "T1", "", ""), BEAT.dead_after_s)
    assert queue.claim(other, [QUEUE]) is not None
    long_ago = "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour'"
    with database.write() as connection:
        connection.execute(sa.text(long_ago))
    assert 0 < queue.seconds_up() < 24 * 3600
    worker = Worker(queue)
    monkeypatch.setattr(WorkQueue, "seconds_up", lambda self: 0.2)
    worker._take_from_the_dead()
    assert rows(database, "SELECT losses FROM programs") == [(0,)]
    monkeypatch.setattr(WorkQueue, "seconds_up", lambda self: 0.6)
    worker._take_from_the_dead()
    assert rows(database, "SELECT losses FROM programs") == [(1,)]
    worker._items.close()


def test_a_worker_that_begins_waits_while_the_server_is_away(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The server may go between the first look and the worker's own row; the log has one line of it."""
    monkeypatch.setattr("engine.cluster.worker.QUEUE_LOOK_S", 0.01)
    caplog.set_level("INFO", "softmark.worker")
    hand_over(database, 1)
    queue = WorkQueue(database)
    register = queue.register_worker
    answers = iter([StoreAwayError("the server is away")] * 3)

    def late(*given: Any) -> int:
        for answer in answers:
            raise answer
        return register(*given)

    monkeypatch.setattr(queue, "register_worker", late)
    assert work_until_all_are_graded(Worker(queue), database, 1) == [(0, 0)]
    assert sum("waits-for-queue" in message for message in caplog.messages) == 1


def test_only_what_others_can_mend_is_waited_for(database: Database) -> None:
    """A wrong name of the database, or a newer queue, stays as it is however long one waits."""
    with database.write() as connection:
        connection.execute(sa.text("UPDATE softmark_queue_version SET version = 99"))
    url = sa.make_url(database.where).set(password=PASSWORD, database="no_such_database")
    missing = open_queue_database(url.render_as_string(hide_password=False))
    for opened, message in ((database, "a newer version"), (missing, "doesn't exist")):
        with pytest.raises(StoreError, match=message) as stop:
            when_there(lambda opened=opened: require_queue(opened), threading.Event(), patient=True)  # type: ignore[misc]
        assert not isinstance(stop.value, StoreAwayError)
    missing.close()


class CountedQueue(WorkQueue):
    """A queue that counts how often it is looked into."""

    looks = 0

    def queues_for(self, serves: Callable[[str], bool]) -> list[str]:
        self.looks += 1
        return super().queues_for(serves)


def test_a_flood_of_notices_makes_no_flood_of_looks(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any role of the database may send them; what is handed over meanwhile is begun all the same."""
    monkeypatch.setattr("engine.cluster.worker.LOOK_S", 1_000.0)  # nothing but a notice wakes it
    queue = CountedQueue(database)
    worker = Worker(queue, times=WorkerTimes())
    thread = threading.Thread(target=worker.run)
    begun = time.monotonic()
    thread.start()
    over, sent = threading.Event(), [0]

    def flood() -> None:
        with database.read() as connection:
            driver = connection.connection.driver_connection
            assert driver is not None
            driver.rollback()
            driver.autocommit = True
            while not over.is_set():
                driver.execute(f'NOTIFY "{JOBS_CHANNEL}"')
                sent[0] += 1
            driver.autocommit = False

    sender = threading.Thread(target=flood)
    try:
        until(lambda: queue.looks > 0)
        sender.start()
        until(lambda: time.monotonic() - begun > 5.0 and sent[0] > 1_000)
        looks, seconds = queue.looks, time.monotonic() - begun
        assert 3 < looks <= _NOTICES_AT_ONCE + seconds * _NOTICES_A_SECOND + 5, (looks, seconds, sent)
        hand_over(database, 1)
        until(lambda: worker.begun == ["s0"])
    finally:
        over.set()
        sender.join()
        worker.stop()
        thread.join()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
