"""A database role for workers: a real worker grades a class with it, and it can do nothing else."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
import sqlalchemy as sa

from engine.cluster.course_line import CourseLine, ProgramForQueue
from engine.cluster.queue_tables import make_queue, open_queue_database, require_owner, require_queue
from engine.cluster.work_queue import QueueReport, WorkerFacts, WorkQueue
from engine.cluster.worker_accounts import allow_worker, withdraw_worker, worker_roles
from engine.errors import InputError, StoreError
from engine.store import open_store
from engine.store.database import Database
from tests.integration.test_cluster_command import (
    EXAMPLE,
    PATIENCE_S,
    grade,
    started,
    until_handed_over,
)
from tests.live.postgres import server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")

STUDENTS = ("s01", "s02", "s03", "s04", "s06", "s07")  # each handed in both programs
OWNER, WORKER, STRANGER = "lecturer", "grader1", "stranger"
PASSWORD = "pass word"
MINE, OTHER = "a" * 12, "b" * 12
ENGINE, PACKAGES = "0123456789ab", "abcdef"
FILE, TAMPERED, DRAWN_FILE = "1" * 64, "2" * 64, "3" * 64


def make_roles() -> None:
    for role in (OWNER, WORKER, STRANGER):
        server().sql(
            f"DO $$ BEGIN CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}';"
            " EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )


def new_database() -> str:
    """Make a database that belongs to an ordinary role, and return its name."""
    make_roles()
    name = server().new_database().partition("@/")[2].partition("?")[0]
    server().sql(f"ALTER DATABASE {name} OWNER TO {OWNER}")
    return name


def address(name: str, role: str) -> str:
    return server().url(name, user=role, password=PASSWORD)


@dataclass
class TwoCourses:
    """A queue with a program of two courses each, and a role that may work for the first."""

    name: str
    owner: Database
    programs: dict[str, list[int]]

    def connect(self, role: str = WORKER) -> psycopg.Connection[tuple[object, ...]]:
        connection = psycopg.connect(address(self.name, role), autocommit=True)
        connection.execute("SET search_path TO softmark_queue, public")
        return connection

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        """Return what the server's administrator sees, whom no policy binds."""
        with psycopg.connect(server().url(self.name), autocommit=True) as connection:
            connection.execute("SET search_path TO softmark_queue, public")
            return connection.execute(statement.encode()).fetchall()


def fill(owner: Database, course: str) -> list[int]:
    line = CourseLine(owner)
    line.register_course(course, f"Course {course[0]}")
    with owner.write() as connection:
        for statement in (
            "INSERT INTO items VALUES (:course, 'softmax', 'v1', '00', :file)",
            "INSERT INTO item_files VALUES (:course, :file, 'print()')",
        ):
            given = {"course": course, "file": FILE}
            connection.execute(sa.text(statement), {k: v for k, v in given.items() if f":{k}" in statement})
    handed = [ProgramForQueue(f"{course[0]}{n}", "softmax", "v1", f"{n}", "code") for n in range(3)]
    return line.hand_over(course, queue_name(course), "marks", f"run-{course[0]}", handed, chunk=1)


def fill_drawing(owner: Database) -> int:
    """Hand over variants of a quiz's item of the first course."""
    with owner.write() as connection:
        for statement in (
            "INSERT INTO items VALUES (:course, 'bayes', 'v1', '', :file, true)",
            "INSERT INTO item_files VALUES (:course, :file, 'key: 1')",
        ):
            connection.execute(sa.text(statement), {"course": MINE, "file": DRAWN_FILE})
    handed = [ProgramForQueue("", "bayes", "v1", "hash", "seeds")]
    (number,) = CourseLine(owner).hand_over(MINE, drawing_queue(), "drawing", "run-d", handed, chunk=1)
    return number


def drawing_queue() -> str:
    return f"{MINE}.draw.{PACKAGES}.{ENGINE}"


def queue_name(course: str) -> str:
    return f"{course}.T2.{PACKAGES}.{ENGINE}"


@pytest.fixture(scope="module")
def two() -> Iterator[TwoCourses]:
    name = new_database()
    open_store(address(name, OWNER)).close()  # the store lies in the same database
    owner = open_queue_database(address(name, OWNER))
    make_queue(owner)
    programs = {course: fill(owner, course) for course in (MINE, OTHER)}
    programs["drawing"] = [fill_drawing(owner)]
    # A worker of the owner has a job of the other course in hand, and has reported its second program.
    queue = WorkQueue(owner)
    number = queue.register_worker(WorkerFacts("owner/1", 1, "T2", ENGINE, PACKAGES))
    assert queue.claim(number, [queue_name(OTHER)]) is not None
    chunk = queue.claim(number, [queue_name(OTHER)])
    assert chunk is not None
    queue.hand_in(number, chunk, [QueueReport(chunk.programs[0].id, '{"score": 1}', None, "owner/1", 1.0)])
    allow_worker(owner, WORKER, MINE)
    yield TwoCourses(name, owner, programs)
    owner.close()


def test_a_class_gets_the_marks_of_one_machine(tmp_path: Path) -> None:
    course = tmp_path / "course"
    grade("init", course, "--title", "Roles")
    shutil.copytree(EXAMPLE / "problems", course / "problems", dirs_exist_ok=True)
    shutil.copy(EXAMPLE / "roster.csv", course / "roster.csv")
    some = tmp_path / "submissions"
    for student in STUDENTS:
        shutil.copytree(EXAMPLE / "submissions" / student, some / student)
    grade("batch", some, "--course", course, "--out", tmp_path / "alone")
    name = new_database()
    owner, worker_address = address(name, OWNER), address(name, WORKER)
    said = grade("worker", "allow", WORKER, "--course", course, "--store", owner)
    assert said == "grader1 may grade for Roles, and nothing else\n"
    assert json.loads(grade("worker", "accounts", "--json", "--course", course, "--store", owner)) == [
        {"role": WORKER, "course": course_id(name), "title": "Roles", "drawing": False}
    ]
    words = ("--course", course, "--store", owner, "--out", tmp_path / "out", "--cluster", "--json")
    with started("batch", some, *words) as class_run:
        until_handed_over(server().url(name))
        with started("worker", "--store", worker_address, "--slots", 2) as worker:
            printed, errors = class_run.communicate(timeout=PATIENCE_S)
            worker.send_signal(signal.SIGTERM)
            ended, log = worker.communicate(timeout=PATIENCE_S)
    assert class_run.returncode == 0, errors
    assert json.loads(printed)["ungraded"] == []
    alone = (tmp_path / "alone" / "gradebook.csv").read_text()
    assert (tmp_path / "out" / "gradebook.csv").read_text() == alone
    assert worker.returncode == 0 and ended.startswith("12 programs graded in "), log
    assert PASSWORD not in log and quote(PASSWORD) not in log
    events = [json.loads(line)["event"] for line in log.splitlines()]
    assert {*events} == {"begins", "chunk", "ends"}  # no fault, and nothing unverified
    grade("worker", "withdraw", WORKER, "--course", course, "--store", owner)
    with pytest.raises(psycopg.errors.InsufficientPrivilege), psycopg.connect(worker_address) as connection:
        connection.execute("SELECT * FROM softmark_queue.programs")


def test_a_worker_of_the_role_does_all_that_workers_do() -> None:
    """Programs go back, wait after a fault, are taken from the dead, and are set aside: as for the owner."""
    name = new_database()
    owner, role = (open_queue_database(address(name, who)) for who in (OWNER, WORKER))
    try:
        make_queue(owner)
        numbers = fill(owner, MINE)
        more = [ProgramForQueue(f"a{n}", "softmax", "v1", f"more {n}", "code") for n in range(3)]
        CourseLine(owner).hand_over(MINE, queue_name(MINE), "marks", "run-a", more)
        allow_worker(owner, WORKER, MINE)
        of_owner, of_role = WorkQueue(owner), WorkQueue(role)
        facts = WorkerFacts("role/1", 1, "T2", ENGINE, PACKAGES)
        dead, first, second = of_owner.register_worker(facts), of_role.register_worker(facts), 0
        queues = of_role.queues_for(lambda queue: True)
        assert queues == [queue_name(MINE)]
        lost = of_owner.claim(dead, queues)
        assert lost is not None and [p.id for p in lost.programs] == numbers[:1]
        with owner.write() as connection:
            connection.execute(
                sa.text(
                    "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 min'"
                    " WHERE id = :id"
                ),
                {"id": dead},
            )
        # The account sees that the owner's worker died over its course's work.
        assert of_role.take_from_the_dead().waiting == tuple(numbers[:1])
        assert of_role.beat(first).is_known
        unheard = of_role.claim(first, queues)
        assert unheard is not None and of_role.give_back(first, []) == 1 and of_role.seconds_up() > 0
        chunk = of_role.claim(first, queues)  # not the one that it seems to have tried already
        assert chunk is not None and [p.id for p in chunk.programs] == numbers[1:2]
        assert of_role.hand_in(first, chunk, [], failed=chunk.programs[0].id, reason="no sandbox") == 0
        tried = "SELECT tries, tried_by FROM programs WHERE id = :id"
        with owner.read() as connection:
            row = connection.execute(sa.text(tried), {"id": numbers[1]}).one()
        assert tuple(row) == (1, ["role/1"])
        of_role.unregister_worker(first)
        first = of_role.register_worker(replace(facts, name="elsewhere/1"))
        seen, sizes = set(), []
        while (chunk := of_role.claim(first, queues)) is not None:
            reports = [QueueReport(p.id, "{}", None, "role/1", 0.1, is_slow=True) for p in chunk.programs]
            assert of_role.hand_in(first, chunk, reports) == len(reports)
            assert of_role.hand_in(first, chunk, reports) == 0  # a second time: the first counts
            seen |= {p.id for p in chunk.programs}
            sizes.append(len(chunk.programs))
        # The chunk of `more` was taken apart: two of its students had run out of time.
        assert len(seen) == 5 and sizes == [1] * 5
        of_role.unregister_worker(first)
        second = of_role.register_worker(facts)
        assert second != first
        with pytest.raises(StoreError, match="may grade, and not look after the queue"):
            require_owner(role)
        require_owner(owner)
        withdraw_worker(owner, WORKER)
        with pytest.raises(StoreError):
            of_role.beat(second)
        with pytest.raises(StoreError, match="may grade for no course"):
            require_queue(role)
    finally:
        owner.close()
        role.close()


@pytest.mark.parametrize(
    ("more", "fact"),
    [
        ("ALTER ROLE mighty SUPERUSER", "it is a superuser"),
        ("ALTER ROLE mighty BYPASSRLS", "policies don't bind it"),
        ("ALTER ROLE mighty CREATEROLE", "it may make roles"),
        (f"GRANT {OWNER} TO mighty", f"it is a member of the role {OWNER}"),
        ("GRANT SELECT ON public.attempts TO mighty", "it has rights to the table public.attempts"),
        ("GRANT SELECT (id) ON public.quizzes TO PUBLIC", "it has rights to the table public.quizzes"),
        ("GRANT CREATE ON SCHEMA public TO mighty", "it may make objects in the schema public"),
    ],
)
def test_a_role_that_may_do_more_is_refused(two: TwoCourses, more: str, fact: str) -> None:
    server().sql("CREATE ROLE mighty LOGIN")
    try:
        server().sql(more, two.name)
        with pytest.raises(InputError) as refused:
            allow_worker(two.owner, "mighty", MINE)
        assert fact in str(refused.value.got)
        assert "mighty" not in {role for role, *_ in worker_roles(two.owner)}
        with two.connect(OWNER) as connection:
            assert (
                connection.execute(
                    "SELECT 1 FROM information_schema.column_privileges WHERE grantee = 'mighty'"
                    " AND table_schema = 'softmark_queue'"
                ).fetchall()
                == []
            )
    finally:
        server().sql("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC", two.name)
        server().sql("DROP OWNED BY mighty; DROP ROLE mighty", two.name)


def test_a_role_is_allowed_and_withdrawn(two: TwoCourses) -> None:
    role = 'Grader "%s" Ü'
    quoted = '"' + role.replace('"', '""') + '"'
    with pytest.raises(InputError, match="there is no role"):
        allow_worker(two.owner, role, MINE)
    server().sql(f"CREATE ROLE {quoted} LOGIN PASSWORD '{PASSWORD}'")
    for course in (MINE, OTHER, OTHER):
        allow_worker(two.owner, role, course)
    titles = [title for name, _, title, _ in worker_roles(two.owner) if name == role]
    assert titles == ["Course a", "Course b"]
    with two.connect(quote(role)) as connection:
        count = connection.execute("SELECT count(DISTINCT course) FROM softmark_queue.programs").fetchall()
        assert count == [(2,)]
        assert withdraw_worker(two.owner, role, OTHER) == 1
        count = connection.execute("SELECT count(DISTINCT course) FROM softmark_queue.programs").fetchall()
        assert count == [(1,)]
        assert withdraw_worker(two.owner, role) == 1
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT count(DISTINCT course) FROM softmark_queue.programs")
    server().sql(f"DROP ROLE {quoted}")  # which the server refuses while there is a right left


def test_drawing_is_allowed_by_itself(two: TwoCourses) -> None:
    """Only a role that may draw sees what is drawn; allowed again without, it doesn't any more."""
    role = "drawer"
    server().sql(f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'")
    queue = WorkQueue(open_queue_database(address(two.name, role)))
    seen = (
        "SELECT (SELECT count(*) FROM items WHERE drawn), (SELECT count(*) FROM item_files),"
        " (SELECT count(*) FROM programs WHERE mode = 'drawing')"
    )
    try:
        with two.connect(role) as connection:
            for drawing, counts in ((False, (0, 1, 0)), (True, (1, 2, 1)), (False, (0, 1, 0))):
                allow_worker(two.owner, role, MINE, drawing=drawing)
                assert connection.execute(seen.encode()).fetchall() == [counts]
                assert (drawing_queue() in queue.queues_for(lambda name: True)) is drawing
                assert (role, MINE, "Course a", drawing) in worker_roles(two.owner)
        allow_worker(two.owner, role, MINE, drawing=True)
        number = queue.register_worker(WorkerFacts("drawer/1", 1, "T2", ENGINE, PACKAGES))
        chunk = queue.claim(number, [drawing_queue()])
        assert chunk is not None and [p.code for p in chunk.programs] == ["seeds"]
        assert queue.give_back(number, []) == 1  # for the tests that come after this one
        queue.unregister_worker(number)
    finally:
        withdraw_worker(two.owner, role)
        queue.database.close()
        server().sql(f"DROP ROLE {role}")


def course_id(name: str) -> object:
    ((found,),) = server().sql("SELECT id FROM softmark_queue.courses", name)
    return found


# What the role tries, and all of it is refused by the server. {mine} and {other} are programs of the course
# that it may grade for and of the other one; {job} is a waiting job of the other course.
REFUSED = {
    # publishing, or changing what is published: it would be code that runs in other workers
    "publish an item": "INSERT INTO items VALUES ('{MINE}', 'x', 'v1', '00', '{{}}')",
    "change an item": 'UPDATE items SET files = \'{{"a": "b"}}\'',
    "publish a file": "INSERT INTO item_files VALUES ('{MINE}', '{TAMPERED}', 'import os')",
    "change a file": "UPDATE item_files SET content = 'import os'",
    "delete a file": "DELETE FROM item_files",
    "delete an item": "DELETE FROM items",
    # programs
    "hand a program over": "INSERT INTO programs"
    " (course, student, item, version, submission, mode, run, queue, interactive, code)"
    " VALUES ('{MINE}', 's', 'softmax', 'v1', 's', 'marks', 'r', 'q', false, 'code')",
    "change a program": "UPDATE programs SET code = 'other' WHERE id = {mine}",
    "move a program to another student": "UPDATE programs SET student = 'x' WHERE id = {mine}",
    "demand a weaker sandbox": "UPDATE programs SET queue = 'q' WHERE id = {mine}",
    "delete a program": "DELETE FROM programs WHERE id = {mine}",
    "count beyond what others can count": "UPDATE programs SET losses = 2147483647 WHERE id = {mine}",
    # reports
    "report on another course's program": "INSERT INTO reports (program, report, worker, seconds)"
    " VALUES ({other}, '{{}}', 'w', 1)",
    "report what fills the memory": "INSERT INTO reports (program, report, worker, seconds)"
    " VALUES ({mine}, repeat('x', 5000000), 'w', 1)",
    "report in no time at all": "INSERT INTO reports (program, report, worker, seconds)"
    " VALUES ({mine}, '{{}}', 'w', 'NaN')",
    "report in the past": "INSERT INTO reports (program, report, worker, seconds, handed_in)"
    " VALUES ({mine}, '{{}}', 'w', 1, '2020-01-01')",
    "delete reports": "DELETE FROM reports",
    "report variants": "INSERT INTO reports (program, report, worker, seconds)"
    " VALUES ({drawn}, '[]', 'w', 1)",
    "make a job of variants": "INSERT INTO procrastinate_jobs (queue_name, task_name, args)"
    " VALUES ('{queue_drawn}', 'grade programs', '{{\"programs\": [{drawn}]}}')",
    "draw in another queue": "INSERT INTO procrastinate_jobs (queue_name, task_name, args)"
    " VALUES ('{queue_mine}', 'grade programs', '{{\"programs\": [{drawn}]}}')",
    "move a job to the queue of variants": "UPDATE procrastinate_jobs SET queue_name = '{queue_drawn}'",
    "allow itself drawing": "UPDATE worker_accounts SET drawing = true",
    # jobs
    "make a job of another course": "INSERT INTO procrastinate_jobs (queue_name, task_name, args) VALUES"
    " ('{queue_other}', 'grade programs', '{{\"programs\": [1]}}')",
    "make a job of another course's program": "INSERT INTO procrastinate_jobs (queue_name, task_name, args)"
    " VALUES ('{queue_mine}', 'grade programs', '{{\"programs\": [{other}]}}')",
    "go before the others": "INSERT INTO procrastinate_jobs (queue_name, task_name, priority, args) VALUES"
    " ('{queue_mine}', 'grade programs', 2000000000, '{{\"programs\": [{mine}]}}')",
    "hold another course's lock": "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, args) VALUES"
    " ('{queue_mine}', 'grade programs', '{OTHER}/b0', '{{\"programs\": [{mine}]}}')",
    "change a priority": "UPDATE procrastinate_jobs SET priority = 2000000000",
    "change what a job is": "UPDATE procrastinate_jobs SET args = '{{}}'",
    "move a job to another queue": "UPDATE procrastinate_jobs SET queue_name = '{queue_other}'",
    "make events of another course": "INSERT INTO procrastinate_events (job_id, type)"
    " VALUES ({job}, 'started')",
    # courses and accounts
    "see a course's weight": "SELECT weight FROM courses",
    "change a course's weight": "UPDATE courses SET weight = 1000",
    "pause courses": "UPDATE courses SET paused = true",
    "make a course": "INSERT INTO courses (id, title) VALUES ('c', 'c')",
    "allow itself another course": "INSERT INTO worker_accounts VALUES ('{WORKER}', '{OTHER}')",
    "be somebody else": "UPDATE worker_accounts SET role = 'stranger'",
    "change the version": "UPDATE softmark_queue_version SET version = 99",
    # workers
    "be another role's worker": "INSERT INTO procrastinate_workers (role) VALUES ('{OWNER}')",
    "describe another's worker": "INSERT INTO workers (id, name, slots, tier, engine, packages)"
    " VALUES ({owners_worker}, 'x', 1, 'T1', 'e', 'p')",
    "have workers drained": "UPDATE workers SET draining = true",
    # the store and the server
    "read a store's tables as the owner": "SET ROLE {OWNER}",
    "be the server's administrator": "SET SESSION AUTHORIZATION softmark",
    "make itself a superuser": "ALTER ROLE {WORKER} SUPERUSER",
    "make a role": "CREATE ROLE another",
    "read passwords": "SELECT * FROM pg_authid",
    "run a program": "COPY (SELECT 1) TO PROGRAM 'id'",
    "run a program for its output": "CREATE TEMPORARY TABLE t (x text); COPY t FROM PROGRAM 'id'",
    "read a file of the server": "SELECT pg_read_file('/etc/passwd')",
    "list files of the server": "SELECT pg_ls_dir('/')",
    "write a file on the server": "COPY (SELECT 1) TO '/tmp/x'",
    "import a file": "SELECT lo_import('/etc/passwd')",
    "end others' connections": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE usename <> current_user",
    "make a table in the queue": "CREATE TABLE softmark_queue.t (x int)",
    "make a table beside the store": "CREATE TABLE public.t (x int)",
    "make a temporary table": "CREATE TEMPORARY TABLE procrastinate_jobs (x int)",
    "make a function": "CREATE FUNCTION softmark_queue.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "make a function beside the store": "CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "replace a function": "CREATE OR REPLACE FUNCTION"
    " softmark_queue.softmark_is_in_hand(text, integer, text, jsonb) RETURNS boolean"
    " LANGUAGE sql AS 'SELECT true'",
    "make a schema": "CREATE SCHEMA s",
    "make a database": "CREATE DATABASE d",
    "make a trigger": "CREATE TRIGGER t AFTER INSERT ON reports EXECUTE FUNCTION f()",
    "drop a policy": "DROP POLICY allowed ON programs",
    "disable policies": "ALTER TABLE programs DISABLE ROW LEVEL SECURITY",
    "look past the policies": "SET row_security = off; SELECT * FROM programs",
    "empty a table": "TRUNCATE procrastinate_jobs CASCADE",
    "change numbers": "SELECT setval('procrastinate_jobs_id_seq', 1)",
    "use the copy of a table": "SELECT * FROM pg_statistic",
}

# What it may say, but it finds nothing there: how many rows.
EMPTY = {
    "read another course's program": "SELECT * FROM programs WHERE course <> '{MINE}'",
    "read another course's report": "SELECT * FROM reports WHERE program NOT IN (SELECT id FROM programs)",
    "read another course's items": "SELECT * FROM items WHERE course <> '{MINE}'",
    "read another course's files": "SELECT * FROM item_files WHERE course <> '{MINE}'",
    "read of another course": "SELECT id, paused FROM courses WHERE id <> '{MINE}'",
    "read another course's jobs": "SELECT * FROM procrastinate_jobs WHERE queue_name NOT LIKE '{MINE}%'",
    "read another's account": "SELECT * FROM worker_accounts WHERE role <> current_user",
    "read of others' workers": "SELECT * FROM workers WHERE id = {owners_worker}",
    "read others' heartbeats": "SELECT * FROM procrastinate_workers WHERE id = {owners_worker}",
    "keep others' workers alive": "UPDATE procrastinate_workers SET last_heartbeat = now() + interval '1 day'"
    " WHERE id = {owners_worker} RETURNING id",
    "declare others' workers dead": "DELETE FROM procrastinate_workers"
    " WHERE id = {owners_worker} RETURNING id",
    "count another course's program": "UPDATE programs SET tries = 9 WHERE id = {other} RETURNING id",
    "claim another course's job": "UPDATE procrastinate_jobs SET status = 'doing'"
    " WHERE id = {job} RETURNING id",
    "delete another course's job": "DELETE FROM procrastinate_jobs WHERE id = {job} RETURNING id",
    "delete waiting jobs": "DELETE FROM procrastinate_jobs WHERE status = 'todo' RETURNING id",
    "read the keys of a quiz": "SELECT * FROM items WHERE drawn OR item = 'bayes'",
    "read the files of a quiz": "SELECT * FROM item_files WHERE sha256 = '{DRAWN_FILE}'",
    "read what is to be drawn": "SELECT * FROM programs WHERE mode = 'drawing'",
    "read the jobs of drawing": "SELECT * FROM procrastinate_jobs WHERE queue_name LIKE '%.draw.%'",
    "claim a job of drawing": "UPDATE procrastinate_jobs SET status = 'doing'"
    " WHERE queue_name LIKE '%.draw.%' RETURNING id",
    "count a piece of a quiz": "UPDATE programs SET tries = 9 WHERE id = {drawn} RETURNING id",
    "change a report that is there": "UPDATE reports SET report = 'x' RETURNING program",
}


@pytest.fixture(scope="module")
def words(two: TwoCourses) -> dict[str, object]:
    waiting = f"queue_name = '{queue_name(OTHER)}' AND status = 'todo'"
    ((job,), *_) = two.rows(f"SELECT id FROM procrastinate_jobs WHERE {waiting}")
    ((owners,),) = two.rows("SELECT id FROM workers")
    return {
        "MINE": MINE, "OTHER": OTHER, "WORKER": WORKER, "OWNER": OWNER, "TAMPERED": TAMPERED,
        "mine": two.programs[MINE][2], "other": two.programs[OTHER][2], "job": job, "owners_worker": owners,
        "queue_mine": queue_name(MINE), "queue_other": queue_name(OTHER),
        "drawn": two.programs["drawing"][0], "queue_drawn": drawing_queue(), "DRAWN_FILE": DRAWN_FILE,
    }  # fmt: skip


def everything(two: TwoCourses) -> dict[str, object]:
    """Return the content of every table of the queue."""
    tables = two.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'softmark_queue' ORDER BY 1")
    return {str(name): two.rows(f"SELECT t::text FROM {name} t ORDER BY 1") for (name,) in tables}


@pytest.mark.parametrize("attempt", REFUSED)
def test_the_role_may_not(two: TwoCourses, words: dict[str, object], attempt: str) -> None:
    before = everything(two)
    with two.connect() as connection:
        refusals = (psycopg.errors.InsufficientPrivilege, psycopg.errors.CheckViolation)
        with pytest.raises(refusals):
            connection.execute(REFUSED[attempt].format(**words).encode())
    assert everything(two) == before


@pytest.mark.parametrize("attempt", EMPTY)
def test_the_role_finds_nothing_to(two: TwoCourses, words: dict[str, object], attempt: str) -> None:
    with two.connect() as connection:
        hand_in_first(two, connection)
        before = everything(two)
        assert connection.execute(EMPTY[attempt].format(**words).encode()).fetchall() == []
    assert everything(two) == before


def hand_in_first(two: TwoCourses, connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Report the role's own first program, as it may: then there is a report that it may see."""
    first = two.programs[MINE][0]
    connection.execute(
        "INSERT INTO reports (program, report, worker, seconds) VALUES (%s, '{}', 'w', 1)"
        " ON CONFLICT (program) DO UPDATE SET report = excluded.report WHERE reports.report IS NULL",
        (first,),
    )
    assert connection.execute("SELECT program FROM reports").fetchall() == [(first,)]


def test_the_role_may_use_nothing_of_the_store(two: TwoCourses) -> None:
    tables = [
        str(name) for (name,) in two.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    ]
    assert {"attempts", "quizzes"} <= {*tables}
    with two.connect() as connection:
        for table in tables:
            for statement in ("SELECT 1 FROM public.{}", "DELETE FROM public.{}", "TRUNCATE public.{}"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement.format(table).encode())


def test_a_role_without_a_course_may_not_even_look(two: TwoCourses) -> None:
    with two.connect(STRANGER) as connection:
        for table in everything(two):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM softmark_queue.{table}".encode())


def test_the_role_gives_its_rights_to_nobody(two: TwoCourses) -> None:
    with two.connect() as connection:
        connection.execute("GRANT SELECT ON programs TO stranger")  # the server only warns
    with two.connect(STRANGER) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT * FROM softmark_queue.programs")


def test_the_role_puts_back_only_what_it_has_in_hand(two: TwoCourses, words: dict[str, object]) -> None:
    mine, other = two.programs[MINE][1], two.programs[OTHER][2]
    put_back = (
        "INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock, args, scheduled_at)"
        " SELECT queue_name, task_name, {priority}, {lock}, '{args}', {at} FROM procrastinate_jobs"
        " WHERE id = {job} RETURNING id"
    )
    same = {"priority": "priority", "lock": "lock", "args": f'{{"programs": [{mine}]}}', "at": "NULL"}
    with two.connect() as connection:
        find = "SELECT id FROM procrastinate_jobs WHERE args->'programs' = %s::jsonb"
        ((job,),) = connection.execute(find, (f"[{mine}]",)).fetchall()
        begin = "UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s WHERE id = %s"
        ((worker,),) = connection.execute("SELECT procrastinate_register_worker_v1()").fetchall()
        connection.execute(begin, (worker, job))
        for change in (
            {"priority": "priority + 1"},
            {"lock": f"'{OTHER}/b0'"},
            {"args": f'{{"programs": [{mine}, {other}]}}'},
            {"args": f'{{"programs": [{two.programs[MINE][2]}]}}'},
            {"args": "{}"},
            # For the server these are the same numbers; readers of the queue would stumble over them.
            {"args": f'{{"programs": [{mine}.0]}}'},
            {"args": f'{{"programs": {mine}}}'},
            {"args": f'{{"programs": [{mine}, {mine}]}}'},
            {"args": f'{{"programs": [{mine}], "x": []}}'},
            # Only a lock by the programs' own student.
            {"lock": f"'{MINE}/a2'"},
            {"lock": f"'{MINE}/'"},
            {"at": "now() + interval '1 year'"},
            {"at": "'-infinity'"},
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(put_back.format(**same | change, job=job).encode())
        ((again,),) = connection.execute(put_back.format(**same, job=job).encode()).fetchall()
        locked = same | {"lock": f"'{MINE}/a1'"}
        ((other_job,),) = connection.execute(put_back.format(**locked, job=job).encode()).fetchall()
        connection.execute("DELETE FROM procrastinate_jobs WHERE id = %s", (job,))
    assert len({job, again, other_job}) == 3


def test_the_policies_bind_every_table_of_the_queue(two: TwoCourses) -> None:
    """A table that somebody adds later has a policy, or nothing is granted."""
    from engine.cluster.queue_policies import WORKER_RIGHTS

    open_ = two.rows(
        "SELECT relname FROM pg_class WHERE relnamespace = 'softmark_queue'::regnamespace AND relkind = 'r'"
        " AND NOT relrowsecurity"
    )
    assert open_ == [("softmark_queue_version",)]
    granted = two.rows(
        "SELECT DISTINCT table_name FROM information_schema.column_privileges"
        f" WHERE table_schema = 'softmark_queue' AND grantee = '{WORKER}'"
    )
    assert {name for (name,) in granted} <= {*WORKER_RIGHTS}
