"""Classes through PgBouncer: no mark is lost, nothing hangs, no setting gets to another one's session."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from engine.cluster.queue_tables import make_queue, open_queue_database
from engine.store import open_store
from engine.store.database import open_database
from tests.integration.test_cluster_command import PATIENCE_S, grade, started
from tests.integration.test_shared_queue import new_course
from tests.live.pooler import at_pooler, pooler
from tests.live.postgres import server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of marks runs on Linux")


def new_name() -> str:
    return server().new_database().partition("@/")[2].partition("?")[0]


def test_two_courses_grade_through_a_pooler(tmp_path: Path) -> None:
    """Store and queue are one database, where a leaked search_path would mix their tables."""
    name = new_name()
    # A command keeps several sessions open; by the transaction, four are enough for all of them.
    with pooler("transaction", size=4) as folder:
        address = at_pooler(folder, name)
        courses = [new_course(tmp_path / "ada", "Ada's", f"store: {address}\n", 0, students=8)]
        own = tmp_path / "ben.db"
        courses.append(
            new_course(tmp_path / "ben", "Ben's", f"store: {own}\nqueue: {address}\n", 1, students=8)
        )
        grade("queue", "new", "--store", address)
        worker = ("worker", "--store", address, "--slots", 1)
        with started(*worker) as one, started(*worker) as two:
            runs = [course.batch("--cluster", "--json") for course in courses]
            with started(*runs[0]) as first, started(*runs[1]) as second:
                done = [run.communicate(timeout=PATIENCE_S) for run in (first, second)]
            for process in (one, two):
                process.terminate()
            logs = [process.communicate(timeout=PATIENCE_S)[1] for process in (one, two)]
        for (printed, said), run in zip(done, (first, second), strict=True):
            assert run.returncode == 0, said
            assert (json.loads(printed)["graded"], json.loads(printed)["ungraded"]) == (8, [])
        events = [json.loads(line)["event"] for log in logs for line in log.splitlines()]
        assert events.count("chunk") >= 2 and not {*events} & {"queue-away", "claim-failed", "hand-in-failed"}
        grade("store", "check", "--course", courses[0].folder)
    ada, ben = (course.gradebook() for course in courses)
    grade(*courses[0].batch("--store", tmp_path / "alone.db"))
    assert courses[0].gradebook() == ada
    # Ben's students wrote the same programs, each the next one's.
    assert [*ben.values()][:-1] == [*ada.values()][1:]
    tables = (
        "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename IN ('attempts', 'programs') ORDER BY 1"
    )
    assert server().sql(tables, name) == [("public",), ("softmark_queue",)]


@pytest.mark.parametrize(("mode", "size"), [("transaction", 1), ("session", 9)])
def test_settings_hold_through_a_pooler_and_stay_out_of_others_sessions(mode: str, size: int) -> None:
    name = new_name()
    with pooler(mode, size=size) as folder:  # by the transaction, all share one session of the server
        address = at_pooler(folder, name)
        with (
            closing(open_queue_database(address)) as queue,
            closing(open_database(address, migrate=False)) as plain,
        ):
            make_queue(queue)
            asked = sa.text("SELECT current_schema(), current_setting('lock_timeout')")
            for _ in range(8):  # more often than a driver takes to prepare a statement
                with queue.read() as connection:
                    assert connection.execute(asked).one() == ("softmark_queue", "30s")
                with plain.read() as connection:
                    assert connection.execute(asked).one() == ("public", "30s")
            plain.limit_answers(10.0)
            with plain.snapshot() as connection:
                limit = (
                    "SELECT current_setting('statement_timeout'), current_setting('transaction_isolation')"
                )
                assert connection.execute(sa.text(limit)).one() == ("9s", "repeatable read")
            with queue.read() as connection:
                assert connection.execute(sa.text("SHOW statement_timeout")).scalar() == "0"


def test_without_notices_through_a_pooler_one_looks_every_second() -> None:
    with pooler("transaction") as folder:
        address = at_pooler(folder, new_name())
        with closing(open_queue_database(address)) as queue:
            halt = threading.Event()
            notices = queue.notices("any_channel", halt)
            next(notices)
            next(notices)
            halt.set()
            assert [*notices] == []
            listening = "SELECT count(*) FROM pg_listening_channels()"
            with queue.read() as connection:
                assert connection.execute(sa.text(listening)).scalar() == 0


def test_a_store_is_made_and_moved_through_a_pooler(tmp_path: Path) -> None:
    with pooler("transaction", size=2) as folder, open_store(tmp_path / "store.db") as store:
        address = at_pooler(folder, new_name())
        store.upkeep.copy_to(address)
        with open_store(address) as copy:
            assert not copy.upkeep.check().faults
