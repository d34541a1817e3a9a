"""The course's side with a worker in a thread: the site's hand-ins, regrades, and what workers may see."""

from __future__ import annotations

import json
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

import engine.cluster.worker as worker_module
from engine.cluster import course_side
from engine.cluster.course_line import CourseLine
from engine.cluster.course_side import ClusterExercises, CourseQueue
from engine.cluster.published_items import PublishedItems
from engine.cluster.queue_state import why_unserved
from engine.cluster.queue_tables import open_queue_database, reports
from engine.cluster.work_queue import SET_ASIDE, QueueReport, WorkerFacts, WorkQueue
from engine.cluster.worker import ClusterWorker, WorkerTimes
from engine.errors import EngineError, StoreError
from engine.items.bank import Bank, builtin_bank, builtin_root
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.quiz import rules as quiz_rules
from engine.runner import Job, Runner, RunResult, SandboxOptions
from engine.runs import hand_in_worker
from engine.runs.hand_in_worker import HandInWorker
from engine.store import Store, open_store
from engine.store.sql_tables import encode
from engine.store.waiting import HandInState
from tests.live.postgres import server
from tests.unit.cluster.conftest import LONG_AGO

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the tests' server runs on POSIX systems")

SECRET = b"a course's secret"
VERSION, POINTS = builtin_bank().version("softmax"), builtin_bank().load("softmax").points
PATIENCE_S = 60.0
# A process of this machine that has ended, as its number was begun at another time.
DEAD = f"{hand_in_worker._machine()}/1/0/1"


class Unused(Runner):
    tier = "T1"

    def run(self, job: Job) -> RunResult:
        raise AssertionError("the fake grader runs nothing")


class Graders:
    """What workers grade with: the first word of a program is its outcome."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.faults: list[Exception] = []

    def grade(
        self,
        exercise: object,
        plan: object,
        submission: CodeSubmission,
        runner: Runner,
        *,
        mode: Mode,
        student: str,
    ) -> GradeReport:
        assert self.gate.wait(PATIENCE_S)
        self.seen.append((student, submission.source))
        if self.faults:
            raise self.faults.pop()
        outcome = Outcome(submission.source.split()[0])
        return GradeReport(
            "softmax", VERSION, outcome, POINTS, POINTS, student=student, mode=mode, tier=runner.tier
        )


@pytest.fixture
def graders(monkeypatch: pytest.MonkeyPatch) -> Graders:
    fake = Graders()
    monkeypatch.setattr(worker_module, "grade_code", fake.grade)
    monkeypatch.setattr(worker_module, "LOOK_S", 0.05)
    monkeypatch.setattr(worker_module, "_FIRST_REST_S", 0.05)
    monkeypatch.setattr(PublishedItems, "prepared", lambda *_: (None, None))
    for name in ("_LOOK_S", "_BEAT_S", "_STORE_AWAY_S"):
        monkeypatch.setattr(hand_in_worker, name, 0.05)
    return fake


@pytest.fixture
def address() -> str:
    return server().new_store()


@pytest.fixture
def course(address: str) -> Iterator[CourseQueue]:
    queue = CourseQueue(
        address, bank=builtin_bank(), secret=SECRET, title="Nets", mode=Mode.MARKS, tier="T2", packages=()
    )
    yield queue
    queue.close()


@pytest.fixture
def exercises(course: CourseQueue) -> ClusterExercises:
    return ClusterExercises(
        builtin_bank(), secret=SECRET, mode=Mode.MARKS, course_queue=course, interactive=True
    )


@contextmanager
def at_work(address: str, slots: int = 2) -> Iterator[ClusterWorker]:
    database = open_queue_database(address)
    worker = ClusterWorker(
        WorkQueue(database), Unused(), packages=(), slots=slots, times=WorkerTimes(0.1, 5.0, 0.3)
    )
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        yield worker
    finally:
        worker.stop()
        thread.join(PATIENCE_S)
        database.close()
        assert not thread.is_alive()


def program(source: str) -> CodeSubmission:
    return CodeSubmission(source, "f.py", f"{abs(hash(source)):064x}")


def until(store: Store, number: int, state: HandInState) -> None:
    end = time.monotonic() + PATIENCE_S
    while (row := store.waiting.find(number)) is None or row.state is not state:
        assert time.monotonic() < end
        time.sleep(0.02)


def add(store: Store, student: str, source: str = "right") -> int:
    return store.waiting.add(student, "softmax", program(source), Mode.MARKS, quiz_rules.now())


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    with open_store(address) as opened:
        yield opened


def until_handed_over(course: CourseQueue) -> int:
    """Wait until one program of the course is in the queue, and return its number."""
    end = time.monotonic() + PATIENCE_S
    while not (numbers := course.queue.waiting(course.course)):
        assert time.monotonic() < end
        time.sleep(0.02)
    (number,) = numbers
    return number


def until_gone(course: CourseQueue) -> bool:
    end = time.monotonic() + PATIENCE_S
    while course.queue.waiting(course.course):
        assert time.monotonic() < end
        time.sleep(0.02)
    return True


def again(course: CourseQueue) -> ClusterExercises:
    """Return the exercises as a site has them that was started anew."""
    course.halt = threading.Event()
    return ClusterExercises(
        builtin_bank(), secret=SECRET, mode=Mode.MARKS, course_queue=course, interactive=True
    )


def test_hand_ins_of_the_site_are_graded_by_workers(
    store: Store, exercises: ClusterExercises, graders: Graders, address: str
) -> None:
    site = HandInWorker(store, lambda: exercises, slots=4)
    site.start()
    numbers = [add(store, student) for student in ("ada", "bob")]
    with at_work(address):
        for number in numbers:
            until(store, number, HandInState.DONE)
    site.stop()
    attempts = list(store.attempts(mode=Mode.MARKS))
    assert {(a.student, a.report.student, a.report.tier) for a in attempts} == {
        ("ada", "ada", "T1"),
        ("bob", "bob", "T1"),
    }
    # The worker knows them by other names, and nothing is left in the queue.
    assert {student for student, _ in graders.seen}.isdisjoint({"ada", "bob"})
    database = open_queue_database(address)
    with database.read() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM programs")).scalar() == 0
    database.close()


def test_a_site_that_stops_leaves_its_hand_ins_to_the_next_one(
    store: Store, course: CourseQueue, graders: Graders, address: str
) -> None:
    first = again(course)
    number = add(store, "ada")
    site = HandInWorker(store, lambda: first, slots=1)
    site.start()
    until(store, number, HandInState.RUNNING)
    site.stop(0.2)
    assert list(store.attempts()) == []  # no fault of anybody was noted
    until(store, number, HandInState.WAITING)
    second = again(course)
    site = HandInWorker(store, lambda: second, slots=1)
    site.start()
    with at_work(address):
        until(store, number, HandInState.DONE)
    site.stop()
    assert len(graders.seen) == 1
    assert [a.report.outcome for a in store.attempts()] == [Outcome.RIGHT]


def test_a_program_that_was_set_aside_is_set_aside_on_the_site_too(
    store: Store, course: CourseQueue, exercises: ClusterExercises, graders: Graders, address: str
) -> None:
    """Handed over again by itself, it would kill the workers of all courses, again and again."""
    number = add(store, "ada")
    site = HandInWorker(store, lambda: exercises, slots=1)
    site.start()
    queued = until_handed_over(course)
    with course.queue.database.write() as connection:
        values = {"program": queued, "report": None, "reason": SET_ASIDE, "worker": "", "seconds": 0.0}
        connection.execute(sa.insert(reports).values(values))
    until(store, number, HandInState.SET_ASIDE)
    site.stop()
    (attempt,) = store.attempts()
    assert attempt.report.outcome is Outcome.UNGRADED and "so it is set aside" in (attempt.reason or "")
    assert course.queue.waiting(course.course) == [] == course.queue.set_aside()
    # Somebody who has looked at it lets it be tried again, as if it were new.
    assert store.waiting.try_again(number)
    site = HandInWorker(store, lambda: again(course), slots=1)
    site.start()
    with at_work(address):
        until(store, number, HandInState.DONE)
    site.stop()
    assert [attempt.report.outcome for attempt in store.attempts()] == [Outcome.RIGHT]


def test_a_hand_in_that_somebody_took_out_of_the_queue_comes_again(
    store: Store,
    course: CourseQueue,
    exercises: ClusterExercises,
    graders: Graders,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(course_side, "_GONE_S", 0.1)
    number = add(store, "ada")
    site = HandInWorker(store, lambda: exercises, slots=1)
    site.start()
    queued = until_handed_over(course)
    assert course.queue.cancel([queued]) == 1
    with at_work(address):
        until(store, number, HandInState.DONE)
    site.stop()
    assert until_gone(course) and [a.report.outcome for a in store.attempts()] == [Outcome.RIGHT]


def test_what_nobody_waits_for_isnt_handed_over_again(
    course: CourseQueue, graders: Graders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(course_side, "_GONE_S", 0.1)
    regrade = ClusterExercises(
        builtin_bank(), secret=SECRET, mode=Mode.MARKS, course_queue=course, interactive=False
    )
    with ThreadPoolExecutor(1) as threads:
        report = threads.submit(regrade.grade, "softmax", program("right"), Unused(), "ada")
        course.queue.cancel([until_handed_over(course)])
        with pytest.raises(EngineError, match="taken out of the queue"):
            report.result(PATIENCE_S)


def test_while_the_database_is_away_it_is_waited_for(
    exercises: ClusterExercises, graders: Graders, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = [StoreError("the database server can't be reached")] * 3
    ask = CourseLine.reports_among

    def reports_among(line: CourseLine, numbers: Sequence[int]) -> list[QueueReport]:
        if faults:
            raise faults.pop()
        return ask(line, numbers)

    monkeypatch.setattr(course_side, "_AWAY_LOOK_S", 0.01)
    monkeypatch.setattr(CourseLine, "reports_among", reports_among)
    with at_work(address):
        assert exercises.grade("softmax", program("right"), Unused(), "ada").outcome is Outcome.RIGHT
    faults += [StoreError("permission denied")] * 9
    monkeypatch.setattr(course_side, "_AWAY_S", 0.02)
    with pytest.raises(StoreError, match="permission denied"):
        exercises.grade("softmax", program("right 2"), Unused(), "ada")


def test_a_site_that_is_killed_makes_no_hand_in_suspect(
    store: Store, course: CourseQueue, graders: Graders, address: str
) -> None:
    """Student code runs on other machines: it can't be why the site died."""
    number = add(store, "ada")
    for turn in range(3):
        begun = store.waiting.claim(f"killed/{turn}", quiz_rules.now(), lambda queue: queue.waiting[0])
        assert begun is not None and begun.losses == 0
        assert store.waiting.take_from_the_dead(lambda _: True, is_suspect=False) == [begun]
    begun = store.waiting.claim(DEAD, quiz_rules.now(), lambda queue: queue.waiting[0])
    site = HandInWorker(store, lambda: again(course), slots=1, runs_here=False)
    site.start()
    with at_work(address):
        until(store, number, HandInState.DONE)
    site.stop()
    done = store.waiting.find(number)
    assert done is not None and done.losses == 0


def test_programs_that_are_expected_go_in_chunks(course: CourseQueue, graders: Graders, address: str) -> None:
    exercises = ClusterExercises(
        builtin_bank(), secret=SECRET, mode=Mode.MARKS, course_queue=course, interactive=False
    )
    class_of = [(f"s{n:03}", "softmax", program(f"right {n}")) for n in range(120)]
    exercises.expect(class_of)
    runner = exercises.open_runner(SandboxOptions(), 8, ())
    with at_work(address) as worker, ThreadPoolExecutor(16) as threads:
        reports = list(threads.map(lambda one: exercises.grade(one[1], one[2], runner, one[0]), class_of))
    assert [report.student for report in reports] == [student for student, _, _ in class_of]
    assert len(graders.seen) == 120
    assert worker.counts.chunks == 3  # of 50, 50 and 20


def test_a_machine_that_fails_gives_back_and_others_are_asked(
    course: CourseQueue, exercises: ClusterExercises, graders: Graders, address: str
) -> None:
    graders.faults.append(EngineError("no space left on the disk"))
    with at_work(address), ThreadPoolExecutor(1) as threads:
        report = threads.submit(exercises.grade, "softmax", program("right"), Unused(), "ada")
        assert report.result(PATIENCE_S).outcome is Outcome.RIGHT
    assert len(graders.seen) == 2


def test_a_worker_ends_when_it_is_drained(
    exercises: ClusterExercises, graders: Graders, address: str
) -> None:
    database = open_queue_database(address)
    worker = ClusterWorker(
        WorkQueue(database), Unused(), packages=(), slots=1, times=WorkerTimes(0.05, 5.0, 5.0)
    )
    thread = threading.Thread(target=worker.run)
    thread.start()
    while thread.is_alive():
        with database.write() as connection:
            connection.execute(sa.text("UPDATE workers SET draining = true"))
        thread.join(0.2)
    database.close()


CHECK = {"id": "sum1", "verdict": "passed", "points": 1.0, "max_points": 1.0}
FORGED = {
    "of another item": {"item": "sdpa"},
    "for practice": {"mode": "practice"},
    "more than full marks": {"score": POINTS + 1},
    "more than full marks of an item that nobody has": {"item_version": "x", "score": 99, "max_score": 99},
    "of a version that nobody has": {"item_version": "x"},
    "less than nothing": {"score": -1.0},
    "not a number": {"score": float("nan")},
    "full marks beyond all numbers": {"score": float("inf"), "max_score": float("inf")},
    "nothing from below": {"outcome": "wrong", "score": -0.0},
    "right without a score": {"score": None},
    "right with a part": {"score": 1.0},
    "wrong with all": {"outcome": "wrong"},
    "partial with nothing": {"outcome": "partial", "score": 0.0},
    "ungraded with full marks": {"outcome": "ungraded"},
    "for a person to mark": {
        "outcome": "ungraded",
        "score": None,
        "checks": [CHECK | {"verdict": "waiting", "points": 0.0}],
    },
    "with a share": {"credit": 0.5},
    "with a check that isn't a number": {"checks": [CHECK | {"points": float("nan")}]},
    "with a check beyond its points": {"checks": [CHECK | {"points": 2.0}]},
    "with a check beyond all numbers": {"checks": [CHECK | {"max_points": float("inf")}]},
    "of a variant": {"variant": "abc"},
    "no report at all": None,
}


@pytest.mark.parametrize("forged", FORGED)
def test_what_cannot_be_a_report_of_the_program_gives_no_mark(
    course: CourseQueue, address: str, forged: str
) -> None:
    """A worker is trusted with what it was given, and with nothing else."""
    assert course.version("softmax") == VERSION
    real = GradeReport(
        "softmax", VERSION, Outcome.RIGHT, POINTS, POINTS, student="pseudonym", mode=Mode.MARKS
    )
    fields = json.loads(encode(real))
    change = FORGED[forged]
    text = "{}" if change is None else json.dumps(fields | change)
    honest = QueueReport(1, json.dumps(fields | {"checks": [CHECK]}), None, "host/1", 0.1)
    kept = course.as_graded("s01", "softmax", honest)
    assert kept is not None and (kept.student, kept.score) == ("s01", POINTS)
    graded = course.as_graded("s01", "softmax", QueueReport(1, text, None, "host/1\x1b[2J", 0.1))
    assert graded is not None and graded.outcome is Outcome.UNGRADED and graded.score is None
    assert graded.item == "softmax" and graded.student == "s01"
    (note,) = graded.notes
    assert note.startswith("what the worker host/1") and "\x1b" not in note


def test_a_report_of_the_item_as_it_was_counts(course: CourseQueue, tmp_path: Path) -> None:
    """The site takes items from a changed folder while programs of the old ones wait."""
    course.version("softmax")
    shutil.copytree(builtin_bank().path("softmax").parent, tmp_path / "softmax")
    spec = tmp_path / "softmax" / "softmax.yaml"
    text = spec.read_text().replace("property: sum1, points: 1,", "property: sum1, points: 2,")
    spec.write_text(text.replace("points: 10\n", "points: 11\n"))
    bank = Bank([builtin_root(), tmp_path])
    course.use_bank(bank)
    assert course.version("softmax") != VERSION and bank.load("softmax").points == POINTS + 1
    for version, points in ((VERSION, POINTS), (bank.version("softmax"), POINTS + 1)):
        for most, is_kept in ((points, True), (points + 100, False)):
            real = GradeReport("softmax", version, Outcome.RIGHT, most, most, student="x", mode=Mode.MARKS)
            graded = course.as_graded("s01", "softmax", QueueReport(1, encode(real), None, "host/1", 0.1))
            assert graded is not None and (graded.score is not None) is is_kept


def test_who_waits_hears_why_no_report_comes(
    course: CourseQueue, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reason once: nobody works, workers that are dead, a pause; and what was cancelled has an end."""
    for name in ("_QUIET_S", "_GONE_S"):
        monkeypatch.setattr(course_side, name, 0.1)
    said: list[str] = []
    exercises = ClusterExercises(
        builtin_bank(), secret=SECRET, mode=Mode.MARKS, course_queue=course, interactive=False,
        warn=said.append,
    )  # fmt: skip

    def until_said(words: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not any(words in sentence for sentence in said):
            assert time.monotonic() < end, said
            time.sleep(0.02)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(exercises.grade, "softmax", program("right"), Unused(), "ada")
        until_said("no worker is running")
        database = open_queue_database(address)
        queue = WorkQueue(database)
        facts = WorkerFacts("lab-1/7", 1, "T3", "", "")
        number = queue.register_worker(facts)
        until_said("worker lab-1/7 doesn't take this work: it demands tier T2")
        with database.write() as connection:  # dead, and nobody there to take it out
            connection.execute(sa.text(LONG_AGO), {"worker": number})
        sentences = why_unserved(database, course.name)
        assert sentences == ["no worker is running; start some: grade worker --store URL (docs/scaling.md)"]
        course.queue.pause(course.course)
        until_said("the course is paused, so no worker begins its work")
        assert len(said) == len(set(said)) == 3
        course.queue.cancel(course.queue.waiting())
        with pytest.raises(EngineError, match="taken out of the queue"):
            waiting.result(PATIENCE_S)
        database.close()


def test_a_small_class_is_spread_over_all_slots(course: CourseQueue) -> None:
    sizes = sa.text("SELECT jsonb_array_length(args->'programs') FROM procrastinate_jobs ORDER BY id")

    def chunks(count: int) -> list[int]:
        course.hand_over([course.program(f"s{n}", "softmax", program(f"right # {n}")) for n in range(count)])
        with course.queue.database.read() as connection:
            return [*connection.execute(sizes).scalars()]

    assert chunks(36) == [36], "nobody is there yet"
    facts = WorkerFacts("host/1", 8, "T1", "", "")
    WorkQueue(course.queue.database).register_worker(facts)
    course.queue.cancel(course.queue.waiting())
    assert chunks(36) == [5, 5, 5, 5, 5, 5, 5, 1]
    course.queue.cancel(course.queue.waiting())
    assert chunks(480) == [50] * 9 + [30]
