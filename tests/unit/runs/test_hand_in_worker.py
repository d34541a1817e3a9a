"""The worker: what waits is graded once, whatever happens to worker, machine and store meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

import engine.sandbox
from engine.errors import RunnerLostError, SandboxError, StoreError
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.quiz import rules as quiz_rules
from engine.runner import Job, Runner, RunResult, SandboxOptions
from engine.runs import CodeExercises, hand_in_queue, hand_in_worker
from engine.runs.hand_in_worker import HandInWorker
from engine.store import Store, open_store
from engine.store.waiting import HandInState, WaitingHandIns
from tests.live.postgres import server

FAST = {"_LOOK_S": 0.02, "_BEAT_S": 0.05, "_STORE_AWAY_S": 0.02, "_OPEN_AGAIN_S": 0.05}
PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in FAST.items():
        monkeypatch.setattr(hand_in_worker, name, seconds)
    monkeypatch.setattr(hand_in_queue, "_REST", timedelta(seconds=0.05))


@pytest.fixture(params=["sqlite", "postgresql"])
def target(tmp_path: Path, request: pytest.FixtureRequest) -> str | Path:
    return server().new_store() if request.param == "postgresql" else tmp_path / "store.db"


@pytest.fixture
def store(target: str | Path) -> Iterator[Store]:
    with open_store(target) as opened:
        yield opened


class Sandbox:
    """A sandbox whose jobs last until they may end, or until it is closed."""

    tier = "T1"

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.may_end.set()
        self.closed = threading.Event()
        self.faults: list[Exception] = []

    def __call__(self, options: SandboxOptions, *, slots: int, sources: Iterable[str]) -> Sandbox:
        if self.faults:
            raise self.faults.pop()
        return self

    def run(self, job: Job) -> RunResult:
        while not self.may_end.wait(0.01):
            if self.closed.is_set():
                raise RunnerLostError("the sandbox was closed")
        return RunResult(None, ())  # type: ignore[arg-type]

    def close(self) -> None:
        self.closed.set()


class Exercises(CodeExercises):
    """Grades by the first word, in the sandbox."""

    def __init__(self) -> None:
        self.graded: list[tuple[str, str]] = []
        self.prepared: list[str] = []
        self.faults: list[Exception] = []

    def prepare(self, item: str) -> None:
        self.prepared.append(item)

    def grade(self, item: str, submission: CodeSubmission, runner: Runner, student: str) -> GradeReport:
        runner.run(Job(submission.source, "f.py", ()))
        self.graded.append((student, submission.source))
        if self.faults:
            raise self.faults.pop()
        outcome = Outcome(submission.source.split()[0])
        score = None if outcome is Outcome.UNGRADED else 1.0
        return GradeReport(item, "v1", outcome, score, 2.0, notes=("a reason",), tier="T1")

    def blank(self, item: str) -> tuple[str, float]:
        return "v1", 2.0


class Shop:
    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store = store
        self.sandbox = Sandbox()
        self.code = Exercises()
        monkeypatch.setattr(engine.sandbox, "open_runner", self.sandbox)

    @contextmanager
    def worker(self, slots: int = 2, patience_s: float = 5.0) -> Iterator[HandInWorker]:
        worker = HandInWorker(self.store, lambda: self.code, slots=slots, items=["softmax"])
        worker.start()
        try:
            yield worker
        finally:
            worker.stop(patience_s)

    def add(self, student: str, source: str = "right") -> int:
        submission = CodeSubmission(source, "f.py", f"{abs(hash(source)):064x}")
        return self.store.waiting.add(student, "softmax", submission, Mode.MARKS, quiz_rules.now())

    def state(self, number: int) -> HandInState:
        row = self.store.waiting.find(number)
        assert row is not None
        return row.state

    def until(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.01)

    def until_done(self, *numbers: int) -> None:
        self.until(lambda: all(self.state(number) is HandInState.DONE for number in numbers))


@pytest.fixture
def shop(store: Store, monkeypatch: pytest.MonkeyPatch) -> Shop:
    return Shop(store, monkeypatch)


def test_everything_is_graded_once_with_the_time_at_which_it_came(shop: Shop) -> None:
    numbers = [shop.add(f"s{n % 3}", f"right {n}") for n in range(9)]
    before = shop.store.waiting.find(numbers[0])
    with shop.worker() as worker:
        shop.until_done(*numbers)
        numbers.append(
            worker.queue.hand_in("s0", "softmax", CodeSubmission("wrong", "f", "a" * 64), Mode.MARKS)
        )
        worker.wake()
        shop.until_done(*numbers)
    assert len(shop.code.graded) == 10
    attempts = list(shop.store.attempts(mode=Mode.MARKS))
    assert sorted(attempt.sequence for attempt in attempts) == numbers
    first = next(attempt for attempt in attempts if attempt.sequence == numbers[0])
    assert before is not None and first.handed == before.handed
    assert shop.code.prepared == ["softmax"]


def test_what_was_graded_before_isnt_run_again(shop: Shop) -> None:
    first = shop.add("ada")
    with shop.worker():
        shop.until_done(first)
        again = shop.add("ada")
        shop.until_done(again)
    assert len(shop.code.graded) == 1


def test_a_fault_of_the_machine_is_no_mark_and_is_tried_again(shop: Shop) -> None:
    number, other = shop.add("ada", "ungraded"), shop.add("bob")
    with shop.worker():
        shop.until(lambda: len(shop.code.graded) >= 4)
        shop.until_done(other)
    assert shop.state(number) is HandInState.WAITING
    (attempt,) = shop.store.attempts(student="ada")
    assert (attempt.report.outcome, attempt.report.score) == (Outcome.UNGRADED, None)
    row = shop.store.waiting.find(number)
    assert row is not None and "a reason" in (row.reason or "") and row.tries >= 3


def test_a_fault_that_passes_costs_nothing(shop: Shop) -> None:
    shop.code.faults = [RunnerLostError("the zygote died")]
    number = shop.add("ada")
    with shop.worker():
        shop.until_done(number)
    (attempt,) = shop.store.attempts()
    assert attempt.report.score == 1.0


def test_a_sandbox_that_cant_be_opened_is_said_and_tried_again(shop: Shop) -> None:
    shop.sandbox.faults = [SandboxError("no namespaces", next_step="grade doctor")] * 3
    number = shop.add("ada")
    with shop.worker() as worker:
        shop.until(lambda: worker.fault is not None or shop.state(number) is HandInState.DONE)
        shop.until_done(number)
        assert worker.fault is None


def test_a_stopped_worker_gives_back_what_takes_long(shop: Shop) -> None:
    shop.sandbox.may_end.clear()
    slow, waiting = shop.add("ada"), shop.add("ada", "right 2")
    with shop.worker(patience_s=0.1):
        shop.until(lambda: shop.state(waiting) is HandInState.RUNNING)
    assert {shop.state(slow), shop.state(waiting)} == {HandInState.WAITING}
    row = shop.store.waiting.find(waiting)
    assert row is not None and (row.losses, row.tries) == (0, 0)
    time.sleep(0.1)
    assert list(shop.store.attempts()) == [], "not even an ungraded one"
    shop.sandbox = Sandbox()
    engine.sandbox.open_runner = shop.sandbox  # type: ignore[assignment]
    with shop.worker():
        shop.until_done(slow, waiting)


def test_a_stopped_worker_finishes_what_it_has(shop: Shop) -> None:
    shop.sandbox.may_end.clear()
    number = shop.add("ada")
    with shop.worker():
        shop.until(lambda: shop.state(number) is HandInState.RUNNING)
        threading.Timer(0.3, shop.sandbox.may_end.set).start()
    assert shop.state(number) is HandInState.DONE


def lose(shop: Shop, number: int) -> None:
    """Have a process of this machine begin the hand-in and die."""
    script = (
        "import sys\n"
        "from engine.quiz.rules import now\n"
        "from engine.runs.hand_in_worker import _worker_name\n"
        "from engine.store import open_store\n"
        "name = _worker_name()\n"
        "with open_store(sys.argv[1]) as store:\n"
        "    mine = lambda state: next(row for row in state.waiting if row.id == int(sys.argv[2]))\n"
        "    assert store.waiting.claim(name, now(), mine)\n"
    )
    where = shop.store._database._engine.url.render_as_string(hide_password=False)
    target = where.removeprefix("sqlite:///").replace("+psycopg", "")
    subprocess.run([sys.executable, "-c", script, target, str(number)], check=True, cwd=Path.cwd())
    assert shop.state(number) is HandInState.RUNNING


def test_what_a_killed_process_had_is_graded_by_the_next_one(shop: Shop) -> None:
    number = shop.add("ada")
    lose(shop, number)
    with shop.worker():
        shop.until_done(number)
    row = shop.store.waiting.find(number)
    assert row is not None and row.losses == 1
    assert len(list(shop.store.attempts())) == 1


def test_what_killed_two_workers_is_set_aside_with_a_reason(shop: Shop) -> None:
    number, other = shop.add("ada"), shop.add("bob")
    for _ in range(2):
        lose(shop, number)
        shop.store.waiting.take_from_the_dead(lambda row: True)
    with shop.worker():
        shop.until_done(other)
        shop.until(lambda: shop.state(number) is HandInState.SET_ASIDE)
    assert [student for student, _ in shop.code.graded] == ["bob"]
    (attempt,) = shop.store.attempts(student="ada")
    assert attempt.report.outcome is Outcome.UNGRADED and "set aside" in (attempt.reason or "")
    assert attempt.source == "right"


def test_a_worker_elsewhere_is_dead_without_a_heartbeat(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    number = shop.add("ada")
    far = "another-machine/1/1/1"
    begun = shop.store.waiting.claim(far, quiz_rules.now(), lambda state: state.waiting[0])
    assert begun is not None
    with shop.worker():
        time.sleep(0.3)
        assert shop.state(number) is HandInState.RUNNING
        monkeypatch.setattr(hand_in_worker, "_DEAD_AFTER_S", 0.1)
        shop.until_done(number)


@pytest.mark.parametrize("skew", [timedelta(minutes=-10), timedelta(minutes=10)])
def test_a_worker_elsewhere_may_have_another_clock(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, skew: timedelta
) -> None:
    monkeypatch.setattr(hand_in_worker, "_DEAD_AFTER_S", 0.6)
    number = shop.add("ada")
    far = "another-machine/1/1/1"
    assert shop.store.waiting.claim(far, quiz_rules.now() + skew, lambda state: state.waiting[0])
    with shop.worker():
        for _ in range(30):
            shop.store.waiting.beat(far, quiz_rules.now() + skew)
            time.sleep(0.05)
        row = shop.store.waiting.find(number)
        assert row is not None and (row.state, row.losses) == (HandInState.RUNNING, 0)
        shop.until_done(number)  # no further heartbeat comes


def test_nobody_is_dead_because_the_store_was_away(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hand_in_worker, "_DEAD_AFTER_S", 1.0)
    away, beat = threading.Event(), WaitingHandIns.beat

    def unless_away(*arguments: object) -> None:
        if away.is_set():
            raise StoreError("the server is away")
        beat(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(WaitingHandIns, "beat", unless_away)
    number = shop.add("ada")
    assert shop.store.waiting.claim("another-machine/1/1/1", quiz_rules.now(), lambda state: state.waiting[0])
    with shop.worker():
        time.sleep(0.2)
        away.set()
        time.sleep(1.3)
        away.clear()
        time.sleep(0.3)
        row = shop.store.waiting.find(number)
        assert row is not None and (row.state, row.losses) == (HandInState.RUNNING, 0)
        shop.until_done(number)


def test_a_store_that_is_away_for_a_while(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    away = threading.Event()

    def unless_away(method):
        def call(*args, **kwargs):
            if away.is_set():
                raise StoreError("the server is away")
            return method(*args, **kwargs)

        return call

    for name in ("claim", "finish", "give_back", "beat", "take_from_the_dead"):
        monkeypatch.setattr(WaitingHandIns, name, unless_away(getattr(WaitingHandIns, name)))
    record_all = Store.record_all
    monkeypatch.setattr(Store, "record_all", unless_away(record_all))
    shop.sandbox.may_end.clear()
    number, later = shop.add("ada"), shop.add("bob")
    with shop.worker(slots=1):
        shop.until(lambda: HandInState.RUNNING in (shop.state(number), shop.state(later)))
        away.set()
        shop.sandbox.may_end.set()
        time.sleep(0.3)
        assert HandInState.DONE not in (shop.state(number), shop.state(later))
        away.clear()
        shop.until_done(number, later)
    assert [attempt.report.score for attempt in shop.store.attempts()] == [1.0, 1.0]


def test_a_fault_of_ours_ends_no_thread(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = {"claim": 1, "beat": 1}

    def failing_once(name):
        method = getattr(WaitingHandIns, name)

        def call(*args, **kwargs):
            if faults[name]:
                faults[name] -= 1
                raise SystemError("bad argument")
            return method(*args, **kwargs)

        return call

    for name in faults:
        monkeypatch.setattr(WaitingHandIns, name, failing_once(name))
    monkeypatch.setattr(hand_in_worker, "_STORE_AWAY_S", 0.05)
    monkeypatch.setattr(hand_in_worker, "_BEAT_S", 0.05)
    number = shop.add("ada")
    with shop.worker(slots=1):
        shop.until_done(number)
        shop.until(lambda: not any(faults.values()))
        names = {thread.name for thread in threading.enumerate()}
        assert {"hand-ins-grade_all", "hand-ins-upkeep"} <= names


@pytest.mark.skipif(not hasattr(os, "setpriority"), reason="POSIX alone has priorities")
def test_the_sandbox_yields_to_pages(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    niceness: list[int] = []

    def open_runner(options: SandboxOptions, *, slots: int, sources: Iterable[str]) -> Sandbox:
        niceness.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return shop.sandbox

    monkeypatch.setattr(engine.sandbox, "open_runner", open_runner)
    mine = os.getpriority(os.PRIO_PROCESS, 0)
    with shop.worker():
        shop.until(lambda: bool(niceness))
    assert niceness == [mine + 5] or niceness == [5]
    assert os.getpriority(os.PRIO_PROCESS, 0) == mine


def test_names_of_workers_tell_who_is_gone() -> None:
    name = hand_in_worker._worker_name()
    assert not hand_in_worker._is_gone(name)
    assert hand_in_worker._worker_name() != name
    machine, pid, started, _ = name.split("/")
    assert hand_in_worker._is_gone(f"{machine}/{pid}/{int(started) - 1}/1")
    assert not hand_in_worker._is_gone(f"elsewhere/{pid}/{int(started) - 1}/1")
    assert not hand_in_worker._is_gone("nonsense") and not hand_in_worker._is_gone(f"{machine}/x/y/z")
    assert len(name) <= 200
