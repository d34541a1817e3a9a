"""A queue on a real server, with two courses and two exercises, and what courses and workers do with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from engine.cluster.course_line import CourseLine, ProgramForQueue
from engine.cluster.fingerprint import QueueName
from engine.cluster.queue_tables import make_queue, open_queue_database, queued_items
from engine.cluster.work_queue import ClaimedChunk, QueueReport, WorkerFacts, WorkQueue
from engine.store.database import Database
from tests.live.postgres import server

COURSE, OTHER = "c" * 12, "d" * 12
VERSION = "v1"
LONG_AGO = "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour' WHERE id = :worker"


def queue_of(course: str) -> str:
    return str(QueueName(course, "T2", "abcdef", "0123456789ab"))


@pytest.fixture
def database() -> Iterator[Database]:
    opened = open_queue_database(server().new_database())
    make_queue(opened)
    line = CourseLine(opened)
    for course in (COURSE, OTHER):
        line.register_course(course, course.upper())
        row = {"course": course, "version": VERSION, "seed": "00", "files": "{}"}
        with opened.write() as connection:
            for item in ("softmax", "sdpa"):
                connection.execute(sa.insert(queued_items).values(row | {"item": item}))
    yield opened
    opened.close()


def hand_over(database: Database, students: list[str], item: str = "softmax", **more: object) -> list[int]:
    options: dict[str, object] = {"course": COURSE, "run": "run", "interactive": False, "chunk": 50} | more
    course = str(options.pop("course"))
    handed = [ProgramForQueue(s, item, VERSION, f"{s}-{item}", f"code of {s}") for s in students]
    return CourseLine(database).hand_over(
        course, queue_of(course), "marks", str(options.pop("run")), handed, **options
    )  # type: ignore[arg-type]


def new_worker(database: Database, name: str = "host/1") -> int:
    return WorkQueue(database).register_worker(WorkerFacts(name, 2, "T1", "0123456789ab", "abcdef"))


def claim(database: Database, worker: int) -> ClaimedChunk | None:
    queue = WorkQueue(database)
    return queue.claim(worker, queue.queues_for(lambda name: True))


def graded(chunk: ClaimedChunk, text: str = "{}") -> list[QueueReport]:
    return [QueueReport(program.id, text, None, "host/1", 0.01) for program in chunk.programs]


def die(database: Database, worker: int) -> None:
    with database.write() as connection:
        connection.execute(sa.text(LONG_AGO), {"worker": worker})


def rows(database: Database, statement: str) -> list[tuple[object, ...]]:
    with database.read() as connection:
        return [tuple(row) for row in connection.execute(sa.text(statement))]


def students_of(chunk: ClaimedChunk | None) -> list[str]:
    assert chunk is not None
    return [program.student for program in chunk.programs]
