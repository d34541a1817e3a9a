"""A class's reports are stored hundreds at a time: few statements, and each mark as if it came by itself."""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import engine.cluster.class_on_cluster as class_on_cluster
from engine.cluster.class_on_cluster import grade_on_cluster
from engine.cluster.course_side import ClusterExercises, CourseQueue
from engine.cluster.work_queue import ClaimedChunk, QueuedProgram, QueueReport, WorkerFacts, WorkQueue
from engine.hand_ins import FileKind, HandedFile, IntakeResult, StudentFiles
from engine.items.bank import Bank, builtin_bank
from engine.model import GradeReport, Mode, Outcome
from engine.runs.batch import BatchResult
from engine.store import Attempt, Store, open_store
from engine.store.sql_tables import encode
from tests.counted_statements import counting
from tests.live.postgres import server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

SECRET = b"a course's secret"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ITEMS = ("softmax", "sdpa")


class Room:
    """A class, its course's queue and store, and a worker that says what a test wants it to say."""

    def __init__(self, folder: Path, bank: Bank) -> None:
        self.folder = folder
        self.address = server().new_store()
        self.bank = bank
        self.store = open_store(self.address)
        self.course = self.new_run()
        self.earlier = self.new_run()
        self.queue = WorkQueue(self.course.queue.database)
        self.worker = self.queue.register_worker(WorkerFacts("host/1", 1, "T1", "", ""))
        self._numbers = itertools.count()

    def new_run(self) -> CourseQueue:
        return CourseQueue(
            self.address, bank=self.bank, secret=SECRET, title="Nets", mode=Mode.MARKS, tier="T2", packages=()
        )

    def file(self, student: str, item: str = "softmax", handed: datetime | None = None) -> HandedFile:
        number = next(self._numbers)
        path = self.folder / f"{number}.py"
        path.write_text(f"x = {number}\n")
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        return HandedFile(path, f"{student}/{item}.py", FileKind.CODE, item, sha256, handed=handed)

    def of(self, students: int) -> IntakeResult:
        """Return a class in which each student hands in all items."""
        names = [f"s{number:04}" for number in range(students)]
        return intake({name: [self.file(name, item) for item in ITEMS] for name in names})

    def grade(self, handed: IntakeResult, course: CourseQueue | None = None) -> BatchResult:
        course = course or self.course
        code = ClusterExercises(
            self.bank, secret=SECRET, mode=Mode.MARKS, course_queue=course, interactive=False
        )
        return grade_on_cluster(
            handed,
            store=self.store,
            code=code,
            course_queue=course,
            mode=Mode.MARKS,
            progress=lambda total: nullcontext(lambda: None),
        )

    def hand_over(self, handed: IntakeResult) -> None:
        """Hand over as a run does that is killed then."""
        from engine.intake import read_code_file

        self.earlier.hand_over(
            [
                self.earlier.program(student.student, file.item or "", read_code_file(file.path, file.name))
                for student in handed.students
                for file in student.files
            ]
        )

    def chunks(self) -> Iterator[ClaimedChunk]:
        while chunk := self.queue.claim(self.worker, self.queue.queues_for(lambda name: True)):
            yield chunk

    def report(self, program: QueuedProgram, outcome: Outcome = Outcome.RIGHT, **more: Any) -> QueueReport:
        points = self.bank.load(program.item).points
        score = {Outcome.RIGHT: points, Outcome.WRONG: 0.0}.get(outcome)
        report = GradeReport(
            program.item, program.version, outcome, score, points, student=program.student, mode=Mode.MARKS
        )
        return QueueReport(program.id, encode(replace(report, **{"tier": "T1"} | more)), None, "host/1", 0.01)

    def work(self, judge: Callable[[QueuedProgram], QueueReport] | None = None) -> int:
        """Grade everything that waits."""
        count = 0
        for chunk in self.chunks():
            reports = [(judge or self.report)(program) for program in chunk.programs]
            count += self.queue.hand_in(self.worker, chunk, reports)
        return count

    def attempts(self) -> list[Attempt]:
        return list(self.store.attempts(mode=Mode.MARKS))

    def left(self) -> int:
        with self.queue.database.read() as connection:
            return int(connection.execute(sa.text("SELECT count(*) FROM programs")).scalar_one())


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path, builtin_bank())
    yield made
    made.course.close()
    made.earlier.close()
    made.store.close()


def intake(files: dict[str, list[HandedFile]]) -> IntakeResult:
    students = tuple(StudentFiles(student, tuple(handed)) for student, handed in files.items())
    return IntakeResult(students, (), layout="plain")


def test_a_class_takes_few_statements_however_large_it_is(room: Room) -> None:
    taken = []
    for item in ITEMS:  # published once
        room.course.version(item)
    for students in (20, 100):
        handed = room.of(students)
        room.hand_over(handed)
        assert room.work() == 2 * students
        with counting() as seen:
            assert room.grade(handed).graded == 2 * students
        assert room.left() == 0
        with counting() as again:
            assert room.grade(handed).graded_before == 2 * students
        assert len(again) <= 3, again
        taken.append(len(seen))
    assert taken[0] == taken[1] <= 12, taken


def test_slices_grow_while_a_class_is_handed_over(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers begin soon, and 5,000 programs are four transactions; here the first has 10 instead of 500."""
    monkeypatch.setattr(class_on_cluster, "_FIRST_SLICE", 10)
    handed = room.of(50)
    room.hand_over(handed)
    room.work()
    with counting() as seen:
        assert room.grade(handed).graded == 100
    assert sum(statement.startswith("INSERT INTO programs") for statement in seen) == 4  # 10, 20, 40, 30


def hash_of(program: QueuedProgram) -> str:
    return str(json.loads(program.code)["sha256"])


def tasks_of(handed: IntakeResult) -> list[tuple[str, HandedFile]]:
    return [(student.student, file) for student in handed.students for file in student.files]


def test_what_the_store_refuses_of_one_report_stops_no_other(room: Room) -> None:
    """A worker can say anything; no column takes what two of these say."""
    handed = room.of(15)
    room.hand_over(handed)
    odd: list[str] = []

    def judge(program: QueuedProgram) -> QueueReport:
        if len(odd) < 2:
            odd.append(hash_of(program))
            name = "tier" if len(odd) == 1 else "engine_version"
            return room.report(program, **{name: "T" * 40})
        return room.report(program)

    room.work(judge)
    result = room.grade(handed)
    assert (result.graded, len(result.ungraded), result.exit_code) == (28, 2, 3)
    assert {attempt.submission for attempt in room.attempts()}.isdisjoint(odd)
    assert len(room.attempts()) == 28
    assert {entry.reason.partition(":")[0] for entry in result.ungraded} != {""}


def test_a_students_files_are_stored_in_their_order_whichever_is_graded_first(room: Room) -> None:
    """The later report waits in the queue: a run that is killed meanwhile loses none."""
    files = [room.file("ada", handed=NOON + timedelta(hours=number)) for number in range(3)]
    handed = intake({"ada": files})
    room.hand_over(handed)
    (chunk,) = room.chunks()
    by_hash = {hash_of(program): program for program in chunk.programs}
    later = [room.report(by_hash[file.sha256]) for file in files[1:]]
    assert room.queue.hand_in(room.worker, chunk, later) == 2
    killed = threading.Thread(target=lambda: room.grade(handed, first))
    first = room.new_run()
    killed.start()
    while room.course.queue.reports_of(first.run) == []:
        pass
    killed.join(1.0)
    assert killed.is_alive() and room.attempts() == []
    assert len(room.course.queue.reports_of(first.run)) == 2, "both are there still"
    room.work()
    killed.join(120.0)
    assert [attempt.submission for attempt in room.attempts()] == [file.sha256 for file in files]
    assert [a.handed for a in room.attempts()] == [file.handed for file in files]
    assert room.left() == 0
    first.close()


def test_held_reports_are_not_taken_for_cancelled_ones(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.cluster.course_side._QUIET_S", 0.05)
    monkeypatch.setattr(class_on_cluster, "POLL_S", 0.01)
    files = [room.file("ada", handed=NOON + timedelta(hours=number)) for number in range(2)]
    handed = intake({"ada": files})
    room.hand_over(handed)
    (chunk,) = room.chunks()
    by_hash = {hash_of(program): program for program in chunk.programs}
    room.queue.hand_in(room.worker, chunk, [room.report(by_hash[files[1].sha256])])
    results: list[BatchResult] = []
    run = threading.Thread(target=lambda: results.append(room.grade(handed)))
    run.start()
    run.join(1.0)  # it looks after them some twenty times
    assert run.is_alive()
    room.work()
    run.join(120.0)
    assert [result.graded for result in results] == [2]


def test_a_program_that_stays_ungraded_is_said_to_be_so_again(room: Room) -> None:
    handed = room.of(2)
    for is_again in (False, True):
        room.hand_over(handed)
        room.work(lambda program: room.report(program, Outcome.UNGRADED, notes=("the disk is full",)))
        result = room.grade(handed)
        assert [entry.again for entry in result.ungraded] == [is_again] * 4
        assert all(("ungraded before, too" in entry.reason) is is_again for entry in result.ungraded)
    assert len(room.attempts()) == 4, "the later tries replace the first ones"
    room.hand_over(handed)
    room.work()
    assert room.grade(handed).graded == 4
    assert {attempt.report.outcome for attempt in room.attempts()} == {Outcome.RIGHT}


def test_what_is_not_kept_in_memory_is_read_again(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_on_cluster, "_KEPT_CHARACTERS", 0)
    handed = room.of(2)
    changed, *others = [file for _, file in tasks_of(handed)]
    hand_over = room.course.hand_over

    def change_then(*given: Any, **more: Any) -> list[int]:
        numbers = hand_over(*given, **more)
        changed.path.write_text("something else")
        return numbers

    room.hand_over(handed)
    room.work()
    monkeypatch.setattr(room.course, "hand_over", change_then)
    result = room.grade(handed)
    assert result.graded == 3
    ((name, reason),) = [(entry.name, entry.reason) for entry in result.ungraded]
    assert name == changed.name and "the file isn't what was handed over" in reason
    stored = {attempt.submission: attempt.source for attempt in room.attempts()}
    assert stored == {file.sha256: file.path.read_text() for file in others}


def test_many_rows_are_stored_as_each_by_itself_would_be(room: Room, store: Store) -> None:
    """The same attempts one by one and all at once: twice the same, an older clock, one replaced."""
    made = [
        Attempt(
            student, f"{number:064x}", report(outcome), NOON - timedelta(minutes=number),
            NOON + timedelta(minutes=1), source=f"x = {number}",
        )
        for student in ("ada", "bob")
        for number, outcome in enumerate(
            (Outcome.UNGRADED, Outcome.WRONG, Outcome.FORMAT_ERROR, Outcome.RIGHT)
        )
    ]  # fmt: skip
    again = [replace(attempt, report=report(Outcome.RIGHT)) for attempt in made[:4]]
    for attempt in made[:3]:
        store.record(attempt)
        room.store.record(attempt)
    one_by_one = [store.record(attempt) for attempt in (*made, *again, *again)]
    together = room.store.record_all([*made, *again, *again])
    assert together == one_by_one
    assert list(room.store.attempts()) == list(store.attempts())


def report(outcome: Outcome) -> GradeReport:
    score = {Outcome.RIGHT: 2.0, Outcome.WRONG: 0.0}.get(outcome)
    return GradeReport("softmax", "v", outcome, score, 2.0, student="x", mode=Mode.MARKS)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened
