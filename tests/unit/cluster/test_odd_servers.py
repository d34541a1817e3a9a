"""Servers, accounts and names that somebody has: each works, or is refused in words that say what to do."""

from __future__ import annotations

import sys
from contextlib import closing
from urllib.parse import quote

import pytest

from engine.cluster.course_side import CourseQueue
from engine.cluster.queue_state import read_queue
from engine.cluster.queue_tables import make_queue, open_queue_database, require_queue
from engine.cluster.work_queue import QueueReport, WorkerFacts, WorkQueue
from engine.cluster.worker_accounts import allow_worker, worker_roles
from engine.errors import StoreError
from engine.items.bank import builtin_bank
from engine.model import CodeSubmission, Mode
from engine.store import open_store
from tests.live.postgres import PASSWORD, server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

ODD = """Odd "Name'%: ä\\😀"""
SOURCE = "x = 'ä\u2028\0\ud800😀'\\'"


def new_name() -> str:
    return server().new_database().partition("@/")[2].partition("?")[0]


def new_role(name: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    server().sql(f"CREATE ROLE {quoted} LOGIN PASSWORD '{PASSWORD}'")
    return quoted


def course_at(address: str, title: str = "Nets") -> CourseQueue:
    return CourseQueue(
        address, bank=builtin_bank(), secret=b"x", title=title, mode=Mode.MARKS, tier="T2", packages=()
    )


def grade_one(queue: CourseQueue, title: str) -> None:
    """Have one program with every kind of character graded, and collect its report."""
    entry = queue.program("ada", "softmax", CodeSubmission(SOURCE, "fä\\%.py", "0" * 64))
    (number,) = queue.hand_over([entry])
    work = WorkQueue(queue.queue.database)
    worker = work.register_worker(WorkerFacts("höst/1", 1, "T1", "", ""))
    chunk = work.claim(worker, [queue.name])
    assert chunk is not None and chunk.programs[0].code == entry.code
    work.hand_in(worker, chunk, [QueueReport(number, '{"中": "😀"}', None, "höst/1", 0.1)])
    assert [report.report for report in queue.queue.reports_of(queue.run)] == ['{"中": "😀"}']
    assert [share.title for share in read_queue(queue.queue.database).courses] == [title]


def test_names_of_databases_and_roles_may_be_anything() -> None:
    role, database = new_role(ODD), '"' + ODD.replace('"', '""') + ' db"'
    server().sql(f"CREATE DATABASE {database} OWNER {role}")
    workers = ODD + " worker"
    new_role(workers)
    place = quote(str(server().folder), safe="")
    user, name = quote(ODD, safe=""), quote(ODD + " db", safe="")
    address = f"postgresql://{user}:{quote(PASSWORD)}@/{name}?host={place}"
    with closing(course_at(address, "Nets \0\u202e😀")) as queue:
        grade_one(queue, "Nets \ufffd\ufffd😀")
        allow_worker(queue.queue.database, workers, queue.course)
        assert [row[0] for row in worker_roles(queue.queue.database)] == [workers]
    as_worker = address.replace(user, quote(workers, safe=""), 1)
    with closing(open_queue_database(as_worker)) as database_of_workers:
        require_queue(database_of_workers)


@pytest.mark.parametrize("form", ["service", "several hosts"])
def test_other_forms_of_an_address(form: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    name, folder = new_name(), quote(str(server().folder), safe="")
    if form == "service":
        services = server().folder / "services"
        lines = (f"host={server().folder}", f"dbname={name}", "user=softmark", f"password={PASSWORD}")
        services.write_text("\n".join(("[grades]", *lines)) + "\n")
        monkeypatch.setenv("PGSERVICEFILE", str(services))
        address = "postgresql:///?service=grades"
    else:
        address = f"postgresql://softmark:{quote(PASSWORD)}@/{name}?host=%2Fnowhere&host={folder}"
    with closing(course_at(address)) as queue:
        grade_one(queue, "Nets")


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_cant_hold_every_character_is_refused(encoding: str) -> None:
    name = f"in_{encoding.lower()}"
    server().sql(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    for open_it in (course_at, open_store):
        with pytest.raises(StoreError, match="can't hold every character") as error:
            open_it(server().url(name))
        assert "--encoding UTF8" in str(error.value) and encoding in str(error.value)


def test_a_clients_own_encoding_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    name = new_name()
    server().sql(f"ALTER DATABASE {name} SET client_encoding = 'SQL_ASCII'")
    with closing(course_at(server().url(name))) as queue:
        grade_one(queue, "Nets")


def test_tables_of_somebody_else_are_left_alone() -> None:
    for table in ("courses", "other"):
        name = new_name()
        server().sql("CREATE SCHEMA softmark_queue", name)
        server().sql(f"CREATE TABLE softmark_queue.{table} (id int)", name)
        with pytest.raises(StoreError, match="tables that aren't the queue's") as error:
            course_at(server().url(name))
        assert table in str(error.value)
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'softmark_queue'"
        assert server().sql(tables, name) == [(table,)]
    # An empty one is made by administrators for an account that may make none.
    new_role("without_create")
    name = new_name()
    server().sql("CREATE SCHEMA softmark_queue AUTHORIZATION without_create", name)
    with closing(open_queue_database(server().url(name, user="without_create"))) as database:
        assert make_queue(database) == 0


def test_a_server_that_takes_no_writes_is_named_so() -> None:
    name = new_name()
    server().sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with pytest.raises(StoreError, match="the database is read-only") as error:
        course_at(server().url(name))
    assert "default_transaction_read_only" in str(error.value) and "standby" in str(error.value)
    server().sql(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    course_at(server().url(name)).close()
    server().sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with closing(open_queue_database(server().url(name))) as database:
        require_queue(database)
        assert [share.title for share in read_queue(database).courses] == ["Nets"]


def test_each_missing_right_of_a_worker_says_who_gives_it() -> None:
    new_role("poor_worker")
    name = new_name()
    address = server().url(name, user="poor_worker")
    with closing(course_at(server().url(name))) as queue:
        for table in ("softmark_queue_version", "workers", "procrastinate_workers", "procrastinate_jobs"):
            allow_worker(queue.queue.database, "poor_worker", queue.course)
            server().sql(f"REVOKE ALL ON softmark_queue.{table} FROM poor_worker", name)
            assert "grade worker allow" in refusal(address, queue.name)
    said = {
        f"REVOKE CONNECT ON DATABASE {name} FROM PUBLIC, poor_worker": "may not connect to this database",
        "ALTER ROLE poor_worker NOLOGIN": "this role may not log in",
        f"ALTER DATABASE {name} ALLOW_CONNECTIONS false": "the database takes no connections",
    }
    for change, sentence in said.items():
        server().sql(change)
        assert sentence in refusal(address, "")
        server().sql("ALTER ROLE poor_worker LOGIN")
        server().sql(f"GRANT CONNECT ON DATABASE {name} TO poor_worker")


def refusal(address: str, queue: str) -> str:
    with closing(open_queue_database(address)) as database, pytest.raises(StoreError) as error:
        require_queue(database)
        work = WorkQueue(database)
        worker = work.register_worker(WorkerFacts("host/1", 1, "T1", "", ""))
        work.take_from_the_dead()
        work.claim(worker, [queue])
    return str(error.value)
