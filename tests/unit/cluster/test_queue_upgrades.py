"""A queue of version 2 that is in use becomes one of today, and nothing that is in it or in hand is lost."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from procrastinate.schema import SchemaManager

from engine.cluster.course_line import CourseLine, ProgramForQueue
from engine.cluster.queue_state import read_queue
from engine.cluster.queue_tables import QUEUE_VERSION, make_queue, open_queue_database, require_queue
from engine.cluster.work_queue import QueueReport, WorkerFacts, WorkQueue
from engine.cluster.worker_accounts import allow_worker
from engine.commands import run
from engine.errors import StoreError
from engine.store.database import Database
from tests.live.postgres import server
from tests.unit.cluster.conftest import rows

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

# As in the file: who owns the queue, a worker's account, what the old worker had, and where it all waited.
OWNER, ROLE, STRANGER, PASSWORD = "lecturer", "grader1", "stranger", "pass word"
COURSE = "a" * 12
QUEUE = f"{COURSE}.T2.abcdef.0123456789ab"
IN_HAND = (4, 5)
WAITING = {"rests", "waits 1", "waits 2", "waits 3", "asks"}
OLD_QUEUE = (Path(__file__).parent / "queue_version_2.sql").read_text(encoding="utf-8")

# What Softmark of version 2 sent when it handed in a chunk, kept as it was.
OLD_HAND_IN = """
SELECT worker_id, attempts FROM procrastinate_jobs WHERE id = 7 AND status = 'doing' FOR UPDATE;
SELECT programs.id FROM programs WHERE programs.id IN (4, 5);
INSERT INTO reports (program, report, reason, worker, seconds) VALUES (4, '{"score": 2}', NULL, 'old/1', 0.5)
    ON CONFLICT (program) DO UPDATE SET report = excluded.report, reason = excluded.reason,
    worker = excluded.worker, seconds = excluded.seconds, handed_in = excluded.handed_in
    WHERE reports.report IS NULL AND excluded.report IS NOT NULL RETURNING reports.program;
UPDATE programs SET tries = least(programs.tries + 1, 10) WHERE programs.id = 5;
SELECT procrastinate_defer_jobs_v1(ARRAY[ROW(queue_name, task_name, priority, lock, NULL,
    '{"programs": [5]}'::jsonb, now())::procrastinate_job_to_defer_v1]) FROM procrastinate_jobs WHERE id = 7;
SELECT procrastinate_finish_job_v1(7, 'succeeded', true);
UPDATE workers SET graded = workers.graded + 1, recent = workers.recent + 1, recent_at = now()
    WHERE workers.id = 1;
"""


def make_roles() -> None:
    for role in (OWNER, ROLE, STRANGER):
        server().sql(
            f"DO $$ BEGIN CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}';"
            " EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )


def new_database() -> str:
    """Make a database of an ordinary role, and return its name."""
    make_roles()
    name = server().new_database().partition("@/")[2].partition("?")[0]
    server().sql(f"ALTER DATABASE {name} OWNER TO {OWNER}")
    return name


def opened(name: str, role: str = OWNER) -> Database:
    return open_queue_database(server().url(name, user=role, password=PASSWORD))


@pytest.fixture
def old() -> Iterator[str]:
    """Return the name of a database with a queue of version 2."""
    name = new_database()
    with connected(name, OWNER) as connection:
        connection.execute("CREATE SCHEMA softmark_queue")
        connection.execute("SET search_path TO softmark_queue")
        connection.execute(SchemaManager.get_schema().encode())
        connection.execute(OLD_QUEUE.encode())
        connection.execute("UPDATE procrastinate_workers SET last_heartbeat = now()")
    yield name


def connected(name: str, role: str) -> psycopg.Connection[tuple[object, ...]]:
    connection = psycopg.connect(server().url(name, user=role, password=PASSWORD), autocommit=True)
    if role != OWNER:
        connection.execute("SET search_path TO softmark_queue")
    return connection


def reports(database: Database) -> dict[str, tuple[str | None, str | None]]:
    query = "SELECT student, report, reason FROM reports JOIN programs ON programs.id = program"
    return {str(row[0]): (row[1], row[2]) for row in rows(database, query)}  # type: ignore[misc]


def grade_all(database: Database, name: str) -> list[str]:
    """Grade what waits until nothing waits any more, and return the students in the order of their turns."""
    queue, turns = WorkQueue(database), []
    number = queue.register_worker(WorkerFacts(name, 1, "T2", "0123456789ab", "abcdef"))
    while (chunk := queue.claim(number, [QUEUE])) is not None:
        turns += [program.student for program in chunk.programs]
        given = [QueueReport(p.id, json.dumps(p.code), None, name, 0.1) for p in chunk.programs]
        queue.hand_in(number, chunk, given)
    return turns


def test_an_old_queue_is_upgraded_and_what_is_in_it_is_graded(old: str) -> None:
    owner, worker = opened(old), opened(old, ROLE)
    before = reports(owner)
    assert before == {"reported": ('{"score": 1}', None), "failed": (None, "no space left on the disk")}
    assert make_queue(owner) == 2 and make_queue(owner) == QUEUE_VERSION
    require_queue(worker)
    # By the account for workers, which nobody allowed anew; what rested may be tried by now.
    with connected(old, OWNER) as connection:
        connection.execute("UPDATE softmark_queue.procrastinate_jobs SET scheduled_at = NULL")
    turns = grade_all(worker, "new/1")
    assert turns[0] == "asks" and set(turns) == WAITING and len(turns) == len(WAITING)
    assert reports(owner) == before | {name: (f'"code of {name}"', None) for name in WAITING}
    # The old worker died with the rest in hand.
    with connected(old, OWNER) as connection:
        connection.execute("UPDATE softmark_queue.procrastinate_workers SET last_heartbeat = '2026-01-01'")
    assert set(WorkQueue(worker).take_from_the_dead().waiting) == set(IN_HAND)
    assert sorted(grade_all(worker, "new/2")) == ["in hand 1", "in hand 2"]
    assert len(reports(owner)) == 2 + len(WAITING) + len(IN_HAND)
    # And what was set aside is tried again.
    (failed,) = CourseLine(owner).set_aside()
    assert CourseLine(owner).try_again([failed]) and grade_all(worker, "new/3") == ["failed"]
    owner.close()
    worker.close()


def test_an_old_worker_hands_in_while_and_after_the_tables_are_upgraded(old: str) -> None:
    owner = opened(old)
    first, *others = [line for line in OLD_HAND_IN.split(";\n") if line.strip()]
    upgraded: list[int] = []
    with psycopg.connect(server().url(old, user=ROLE, password=PASSWORD)) as worker:
        worker.execute("SET search_path TO softmark_queue")
        worker.execute(first.encode())
        worker.execute(others[0].encode())  # it has looked at the programs: the upgrade waits for it
        thread = threading.Thread(target=lambda: upgraded.append(make_queue(owner)))
        thread.start()
        until_somebody_waits(old)
        for statement in others[1:]:
            worker.execute(statement.encode())
        assert not upgraded
        worker.commit()
        thread.join()
        assert upgraded == [2]
        # Under the same connection it goes on with what it put back.
        claim = "SELECT (procrastinate_fetch_job_v2(ARRAY[%s]::varchar[], 1)).args->'programs'"
        taken = [worker.execute(claim, [QUEUE]).fetchone() for _ in range(3)]
        assert ([5],) in taken
        worker.commit()
    assert reports(owner)["in hand 1"] == ('{"score": 2}', None)
    assert rows(owner, "SELECT tries FROM programs WHERE id = 5") == [(1,)]
    owner.close()


def until_somebody_waits(name: str) -> None:
    query = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}' AND wait_event_type = 'Lock'"
    end = time.monotonic() + 60.0
    with psycopg.connect(server().url("postgres"), autocommit=True) as connection:
        while connection.execute(query.encode()).fetchone() == (0,):
            assert time.monotonic() < end
            time.sleep(0.02)


def test_many_who_open_an_old_queue_upgrade_it_once(old: str) -> None:
    owner = opened(old)
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.append(make_queue(owner))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 5 and set(answers) <= {2, QUEUE_VERSION} and 2 in answers
    assert rows(owner, "SELECT version FROM softmark_queue_version") == [(QUEUE_VERSION,)]
    owner.close()


def test_an_upgrade_that_fails_changes_nothing(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = opened(old)
    before = shape(old)
    with monkeypatch.context() as patch:
        patch.setattr("engine.cluster.queue_upgrades.worker_grants", lambda role: ["SELECT 1 / 0"])
        with pytest.raises(StoreError):
            make_queue(owner)
    assert shape(old) == before
    assert make_queue(owner) == 2
    owner.close()


SHAPE = (
    "SELECT table_name, column_name, data_type, character_maximum_length, column_default, is_nullable"
    " FROM information_schema.columns WHERE table_schema = 'softmark_queue' ORDER BY 1, 2",
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE connamespace = 'softmark_queue'::regnamespace ORDER BY 1, 2",
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'softmark_queue' ORDER BY 1, 2",
    "SELECT tablename, policyname, cmd, qual, with_check FROM pg_policies"
    " WHERE schemaname = 'softmark_queue' ORDER BY 1, 2",
    "SELECT proname, prosrc, pg_get_function_identity_arguments(oid), proowner::regrole::text FROM pg_proc"
    " WHERE pronamespace = 'softmark_queue'::regnamespace ORDER BY 1, 3",
    "SELECT relname, relowner::regrole::text, relrowsecurity, coalesce(relacl::text, '') FROM pg_class"
    " WHERE relnamespace = 'softmark_queue'::regnamespace ORDER BY 1",
    "SELECT attrelid::regclass::text, attname, attacl::text FROM pg_attribute WHERE attacl IS NOT NULL"
    " AND attrelid::regclass::text LIKE 'softmark_queue.%' ORDER BY 1, 2",
)


def shape(name: str) -> list[list[tuple[object, ...]]]:
    """Return all that makes the queue's tables what they are, as the server says it; no rows."""
    with psycopg.connect(server().url(name), autocommit=True) as connection:
        return [connection.execute(query.encode()).fetchall() for query in SHAPE]


@pytest.mark.parametrize("by_administrator", [False, True])
def test_an_upgraded_queue_is_a_new_one_to_the_last_right(old: str, by_administrator: bool) -> None:
    upgraded = open_queue_database(server().url(old)) if by_administrator else opened(old)
    name = new_database()
    new = opened(name)
    assert make_queue(upgraded) == 2 and make_queue(new) == 0
    CourseLine(new).register_course(COURSE, "Course")
    allow_worker(new, ROLE, COURSE)
    allow_worker(upgraded, ROLE, COURSE)  # as for the new one; that nobody must is shown above
    for mine, its in zip(shape(old), shape(name), strict=True):
        assert mine == its
    upgraded.close()
    new.close()


def test_whoever_may_not_upgrade_hears_who_may(old: str) -> None:
    worker = opened(old, ROLE)
    for use in (require_queue, make_queue):
        with pytest.raises(StoreError, match="an older version of Softmark") as refused:
            use(worker)
        assert f"have the owner of its tables, {OWNER}, upgrade it: grade queue new" in str(refused.value)
    owner = opened(old)
    with pytest.raises(StoreError, match="grade queue new") as refused:
        require_queue(owner)
    assert "the owner" not in str(refused.value)
    assert read_queue_version(owner) == 2
    owner.close()
    worker.close()


def test_the_command_says_what_it_upgraded(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["queue", "new", "--store", server().url(old, user=OWNER, password=PASSWORD)]
    for end in (f"was upgraded from version 2 to {QUEUE_VERSION}; what is in it stays", "was there already"):
        assert run(words) == 0
        assert capsys.readouterr().out.endswith(f": the queue {end}\n")


def test_a_newer_queue_is_left_alone_and_said_to_be_newer(old: str) -> None:
    owner = opened(old)
    make_queue(owner)
    with owner.write() as connection:
        connection.execute(sa.text("UPDATE softmark_queue_version SET version = 99"))
    for use in (require_queue, make_queue):
        with pytest.raises(StoreError, match="a newer version of Softmark") as refused:
            use(owner)
        assert "install on this machine the version of Softmark that the others have" in str(refused.value)
        assert "version 99" in str(refused.value)
    owner.close()


def test_a_queue_without_a_way_is_refused_with_what_to_do(old: str) -> None:
    owner = opened(old)
    with owner.write() as connection:
        connection.execute(sa.text("UPDATE softmark_queue_version SET version = 1"))
    with pytest.raises(StoreError, match="too old to be upgraded") as refused:
        make_queue(owner)
    assert "DROP SCHEMA" in str(refused.value) and read_queue_version(owner) == 1
    owner.close()


def read_queue_version(database: Database) -> object:
    return rows(database, "SELECT version FROM softmark_queue_version")[0][0]


def test_work_of_an_engine_that_is_gone_moves_to_the_one_that_hands_it_over_again(old: str) -> None:
    """The programs wait where only workers of the old engine look, and what they report counts no more."""
    owner = opened(old)
    make_queue(owner)
    line, newer = CourseLine(owner), f"{COURSE}.T2.abcdef.ba9876543210"
    again = [
        ProgramForQueue(student, "softmax", "v1", f"{student} softmax", f"code of {student}")
        for student in ("waits 1", "waits 2", "waits 3", "in hand 1")
    ]
    done = [ProgramForQueue("reported", "sdpa", "v1", "reported sdpa", "code of reported")]
    numbers = line.hand_over(COURSE, newer, "marks", "next", again + done)
    assert not set(numbers) & {6, 7, 8, 4, 2}, "under new numbers"
    assert line.reports_of("next") == [], "the old engine's report of one of them isn't the new one's"
    queue = WorkQueue(owner)
    number = queue.register_worker(WorkerFacts("new/1", 1, "T2", "ba9876543210", "abcdef"))
    chunk = queue.claim(number, [newer])
    assert chunk is not None
    assert {p.student for p in chunk.programs} == {"waits 1", "waits 2", "waits 3", "in hand 1"}
    queue.hand_in(number, chunk, [QueueReport(p.id, "{}", None, "new/1", 0.1) for p in chunk.programs])
    chunk = queue.claim(number, [newer])
    assert chunk is not None and [p.student for p in chunk.programs] == ["reported"]
    queue.hand_in(number, chunk, [QueueReport(p.id, "{}", None, "new/1", 0.1) for p in chunk.programs])
    assert {report.program for report in line.reports_of("next")} == {*numbers}
    # In the old queue wait those that nobody handed over again, and no empty job.
    waiting = {work.queue: work.programs for work in read_queue(owner).unserved}
    assert waiting.keys() <= {QUEUE}
    left = rows(owner, "SELECT args->'programs' FROM procrastinate_jobs WHERE status = 'todo'")
    assert sorted(left) == [([3],), ([9],)]
    owner.close()
