"""What a worker's role writes in plain SQL within its rights keeps nobody else from working."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import psycopg
import pytest
import sqlalchemy as sa

from engine.cluster.course_line import CourseLine
from engine.cluster.queue_state import read_queue
from engine.cluster.queue_tables import make_queue, open_queue_database
from engine.cluster.work_queue import DeadWorkers, QueueReport, WorkerFacts, WorkQueue
from engine.cluster.worker_accounts import allow_worker, withdraw_worker
from engine.errors import StoreError
from engine.store.database import Database
from tests.integration.test_worker_accounts import (
    ENGINE,
    MINE,
    OTHER,
    OWNER,
    PACKAGES,
    WORKER,
    address,
    fill,
    new_database,
    queue_name,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

FACTS = WorkerFacts("owner/1", 1, "T2", ENGINE, PACKAGES)


@dataclass
class Attacked:
    """A queue with three programs of two courses each; the role has one of the first course's in hand."""

    owner: Database
    role: psycopg.Connection[tuple[object, ...]]
    honest: int
    words: dict[str, object]

    def attempt(self, statement: str) -> None:
        for part in statement.split(";"):
            with contextlib.suppress(psycopg.Error):
                self.role.execute(part.format(**self.words).encode())


@pytest.fixture
def attacked() -> Iterator[Attacked]:
    name = new_database()
    owner = open_queue_database(address(name, OWNER))
    make_queue(owner)
    mine, _ = fill(owner, MINE), fill(owner, OTHER)
    allow_worker(owner, WORKER, MINE)
    honest = WorkQueue(owner).register_worker(FACTS)
    of_role = open_queue_database(address(name, WORKER))
    hostile = WorkQueue(of_role).register_worker(WorkerFacts("role/1", 1, "T1", ENGINE, PACKAGES))
    chunk = WorkQueue(of_role).claim(hostile, [queue_name(MINE)])
    assert chunk is not None
    of_role.close()
    words = {
        "job": chunk.job, "program": chunk.programs[0].id, "second": mine[1], "honest": honest,
        "hostile": hostile, "queue": queue_name(MINE),
        "put": "INSERT INTO procrastinate_jobs (queue_name, task_name, args, priority, scheduled_at)",
    }  # fmt: skip
    with psycopg.connect(address(name, WORKER), autocommit=True) as role:
        role.execute("SET search_path TO softmark_queue")
        yield Attacked(owner, role, honest, words)
    owner.close()


NASTY = {
    "a job of ages ago": "{put} SELECT queue_name, task_name, args, priority, '-infinity'"
    " FROM procrastinate_jobs WHERE id = {job}",
    "a job of before Christ": "{put} SELECT queue_name, task_name, args, priority, '0044-03-15 BC'"
    " FROM procrastinate_jobs WHERE id = {job}",
    "a job of one program a hundred thousand times": "{put} SELECT queue_name, task_name, jsonb_build_object("
    "'programs', (SELECT jsonb_agg({program}) FROM generate_series(1, 100000))), priority, null"
    " FROM procrastinate_jobs WHERE id = {job}",
    "a job of no list": "{put} SELECT queue_name, task_name, jsonb_build_object('programs', {program}),"
    " priority, null FROM procrastinate_jobs WHERE id = {job}",
    "a job of nested lists": "{put} SELECT queue_name, task_name, args || jsonb_build_object('x',"
    " (repeat('[', 5000) || repeat(']', 5000))::jsonb), priority, null"
    " FROM procrastinate_jobs WHERE id = {job}",
    "a job with a huge text": "{put} SELECT queue_name, task_name, args || jsonb_build_object('x',"
    " repeat('x', 50000000)), priority, null FROM procrastinate_jobs WHERE id = {job}",
    "the last place of all": "{put} SELECT queue_name, task_name, args, -2147483648, null"
    " FROM procrastinate_jobs WHERE id = {job}",
    "a job for a worker that lives": "UPDATE procrastinate_jobs SET status = 'doing', worker_id = {honest}"
    " WHERE status = 'todo'",
    "a job for nobody": "UPDATE procrastinate_jobs SET status = 'doing', worker_id = NULL"
    " WHERE status = 'todo'",
    "more tries than there are numbers": "UPDATE procrastinate_jobs SET attempts = 2147483647",
    "tries below nothing": "UPDATE procrastinate_jobs SET attempts = -2147483648",
    "all claimed and deleted": "UPDATE procrastinate_jobs SET status = 'doing', worker_id = {hostile}"
    " WHERE status = 'todo'; DELETE FROM procrastinate_jobs",
    "a heartbeat at the end of time": "UPDATE procrastinate_workers SET last_heartbeat = 'infinity'",
    "a heartbeat in a thousand years": "UPDATE procrastinate_workers SET last_heartbeat = '3025-01-01'",
    "a heartbeat before all time": "UPDATE procrastinate_workers SET last_heartbeat = '-infinity'",
    "a new worker at the end of time": "INSERT INTO procrastinate_workers (last_heartbeat)"
    " VALUES ('infinity')",
    "a pace without end": "UPDATE workers SET recent = 'infinity'",
    "a pace that is no number": "UPDATE workers SET recent = 'NaN'",
    "a pace below nothing": "UPDATE workers SET recent = -1e308",
    "a pace beyond all numbers": "UPDATE workers SET recent = 1.7e308",
    "a pace of the end of time": "UPDATE workers SET recent_at = 'infinity'",
    "a pace of before all time": "UPDATE workers SET recent_at = '-infinity'",
    "a pace of before Christ": "UPDATE workers SET recent_at = '4000-01-01 BC', recent = 1e300",
    "more reports than there are numbers": "UPDATE workers SET graded = 9223372036854775807",
    "fewer reports than none": "UPDATE workers SET graded = -5",
    "a fault of 50 MB": "UPDATE workers SET fault = repeat('x', 50000000)",
    "a fault that clears the screen": "UPDATE workers SET fault = e'\\x1b[2J\\n\\n\\nall is well'",
    "slots below nothing": "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now());"
    " INSERT INTO workers (id, name, slots, tier, engine, packages) SELECT max(id),"
    " e'\\x1b[2J<b>\\n', -5, 'T1', e'\\x1b[2J', e'\\x1b[2J' FROM procrastinate_workers",
    "a thousand workers": "INSERT INTO procrastinate_workers (last_heartbeat)"
    " SELECT now() FROM generate_series(1, 1000);"
    " INSERT INTO workers (id, name, slots, tier, engine, packages) SELECT id, 'w', 1,"
    " 'T1', 'e', 'p' FROM procrastinate_workers ON CONFLICT DO NOTHING",
    "a report that is none": "INSERT INTO reports (program, report, worker, seconds)"
    " VALUES ({program}, repeat('[', 100000), 'w', 1)",
    "a reason that clears the screen": "INSERT INTO reports (program, reason, worker, seconds)"
    " VALUES ({program}, e'\\x1b[2J\\n<b>', e'\\x1b[2J', 1)",
    "a report of the end of time": "INSERT INTO reports (program, reason, worker, seconds)"
    " VALUES ({program}, 'r', 'w', 1); UPDATE reports SET report = '{{}}', handed_in = 'infinity'",
    "a report of before all time": "INSERT INTO reports (program, reason, worker, seconds)"
    " VALUES ({program}, 'r', 'w', 1); UPDATE reports SET report = '{{}}', handed_in = '-infinity'",
    "a thousand events": "INSERT INTO procrastinate_events (job_id, type, at) SELECT {job}, 'started',"
    " 'infinity' FROM generate_series(1, 1000)",
    "each program a killer": "UPDATE programs SET losses = 100, tries = 100",
}


@pytest.mark.parametrize("nasty", NASTY)
def test_what_the_role_writes_keeps_nobody_from_working(attacked: Attacked, nasty: str) -> None:
    attacked.attempt(NASTY[nasty])
    line, queue = CourseLine(attacked.owner), WorkQueue(attacked.owner)
    state = read_queue(attacked.owner)
    text = json.dumps(asdict(state), allow_nan=False)
    assert len(text) < 2_000_000
    assert 0.0 <= state.per_minute < 1e12
    assert len(state.workers) <= 1_001
    assert len(line.reports_of(f"run-{MINE[0]}")) + len(line.left_behind(MINE, "marks")) <= 1
    line.set_weight(MINE, 2)
    line.set_weight(OTHER, 3)
    # Without the role: its worker is dead, or has no right any more. All others' work is done by others.
    withdraw_worker(attacked.owner, WORKER)
    attacked.role.close()
    with attacked.owner.write() as connection:
        connection.exec_driver_sql(
            "UPDATE procrastinate_workers SET last_heartbeat = last_heartbeat - interval '10 minutes'"
            " WHERE role = %s AND last_heartbeat > '-infinity'",
            (WORKER,),
        )
    queue.take_from_the_dead()
    line.restore(line.waiting())
    done: set[int] = set()
    with attacked.owner.write() as connection:  # a program that rests comes at once
        connection.exec_driver_sql("UPDATE procrastinate_jobs SET scheduled_at = NULL WHERE status = 'todo'")
    while (chunk := queue.claim(attacked.honest, [queue_name(OTHER), queue_name(MINE)])) is not None:
        reports = [QueueReport(program.id, "{}", None, "owner/1", 0.1) for program in chunk.programs]
        queue.hand_in(attacked.honest, chunk, reports)
        done |= {program.id for program in chunk.programs}
    assert line.waiting() == []
    read_queue(attacked.owner)
    line.cancel(line.waiting())


def test_what_a_role_has_in_hand_goes_back_when_it_is_withdrawn(attacked: Attacked) -> None:
    """Its worker lives on for another course, and can't hand in any more."""
    allow_worker(attacked.owner, WORKER, OTHER)
    withdraw_worker(attacked.owner, WORKER, MINE)
    queue, seen = WorkQueue(attacked.owner), set()
    while (chunk := queue.claim(attacked.honest, [queue_name(MINE)])) is not None:
        seen |= {program.id for program in chunk.programs}
    assert seen == {*CourseLine(attacked.owner).waiting(MINE)} and len(seen) == 3


def test_a_worker_that_rarely_shows_that_it_lives_is_not_taken_for_dead(attacked: Attacked) -> None:
    """By its own measure: a quick one that looks at it takes nothing from it."""
    queue = WorkQueue(attacked.owner)
    slow, quick = queue.register_worker(FACTS, 270.0), queue.register_worker(FACTS, 0.5)
    chunks = [queue.claim(worker, [queue_name(OTHER)]) for worker in (slow, quick)]
    with attacked.owner.write() as connection:
        connection.exec_driver_sql(
            "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '90 s'"
        )
    state = {worker.number: worker for worker in read_queue(attacked.owner).workers}
    assert not state[slow].is_silent and state[quick].is_silent and state[attacked.honest].is_silent
    assert chunks[1] is not None
    lost = [program.id for program in chunks[1].programs]
    assert queue.take_from_the_dead(0.4) == DeadWorkers(), "the server has just come back"
    assert {*lost} <= {*queue.take_from_the_dead().waiting}
    assert queue.beat(slow).is_known and not queue.beat(quick).is_known


def test_a_lock_that_the_role_holds_keeps_nobody_waiting_for_ever(attacked: Attacked) -> None:
    impatient = sa.event.listens_for(attacked.owner._engine, "begin")
    impatient(lambda connection: connection.exec_driver_sql("SET LOCAL lock_timeout = '300ms'"))
    with attacked.role.transaction(), contextlib.suppress(psycopg.Error):
        attacked.role.execute("LOCK TABLE procrastinate_jobs IN ACCESS EXCLUSIVE MODE")
        for use in (
            lambda: read_queue(attacked.owner),
            lambda: WorkQueue(attacked.owner).claim(attacked.honest, [queue_name(OTHER)]),
        ):
            with pytest.raises(StoreError, match="locked"):
                use()
        assert withdraw_worker(attacked.owner, WORKER) == 1, "its rights can be taken all the same"
