"""What a killed run stored and could not forget any more doesn't stay in the queue for ever."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator

import pytest
import sqlalchemy as sa

from engine.cluster.course_side import CourseQueue
from engine.cluster.work_queue import QueueReport, WorkerFacts, WorkQueue
from engine.items.bank import builtin_bank
from engine.model import CodeSubmission, Mode
from engine.store import SubmissionKey
from tests.live.postgres import server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

STUDENTS = ("ada", "bob", "cat", "dan")


@pytest.fixture
def course() -> Iterator[CourseQueue]:
    opened = CourseQueue(
        server().new_database(), bank=builtin_bank(), secret=b"secret", title="Course", mode=Mode.MARKS,
        tier="T2", packages=(),
    )  # fmt: skip
    yield opened
    opened.close()


def hash_of(student: str) -> str:
    return f"{STUDENTS.index(student):064x}"


def test_only_what_is_stored_and_was_left_long_ago_is_forgotten(course: CourseQueue) -> None:
    handed = [
        course.program(student, "softmax", CodeSubmission("x = 1", "softmax.py", hash_of(student)))
        for student in STUDENTS
    ]
    ada, bob, cat, dan = course.hand_over(handed)
    queue = WorkQueue(course.queue.database)
    worker = queue.register_worker(WorkerFacts("host/1", 1, "T1", "", ""))
    chunk = queue.claim(worker, [course.name])
    assert chunk is not None
    queue.hand_in(
        worker, chunk, [QueueReport(number, "{}", None, "host/1", 0.1) for number in (ada, bob, cat)]
    )

    def stored(submissions: Collection[SubmissionKey]) -> list[SubmissionKey]:
        assert all((item, sha) == ("softmax", hash_of(student)) for student, item, sha in submissions)
        return [key for key in submissions if key[0] != "cat"]

    assert course.tidy(STUDENTS, stored) == 0, "whoever waits for them may collect them still"
    with course.queue.database.write() as connection:
        aged = "UPDATE reports SET handed_in = now() - interval '11 minutes' WHERE program <> :number"
        connection.execute(sa.text(aged), {"number": bob})
    # Bob's came just now, Cat's isn't stored, Dan's isn't graded; the first time nobody asks for Ada's.
    assert course.tidy(("bob", "cat", "dan"), stored) == 0
    assert course.tidy(STUDENTS, stored) == 1
    assert set(course.queue.runs_of([ada, bob, cat, dan])) == {bob, cat, dan}
