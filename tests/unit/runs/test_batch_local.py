"""The local engine: everything is graded once, faults cost nobody a mark, runs can be stopped and resumed."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

import engine.sandbox
from engine.errors import EngineError, RunnerLostError, SandboxError, StoreError, UnstorableError
from engine.hand_ins import FileKind, HandedFile, IntakeProblem, IntakeResult, StudentFiles
from engine.intake import read_code_file
from engine.model import Check, CodeSubmission, GradeReport, Mode, Outcome, Verdict
from engine.runner import Job, Runner, RunResult, SandboxOptions
from engine.runs import BatchResult, CodeExercises, grade_batch, grade_file
from engine.store import Store, open_store


class FakeRunner:
    """Counts how often it is opened and closed; code is graded by the fake below."""

    tier = "T1"

    def __init__(self) -> None:
        self.opened: list[int] = []
        self.sources: list[str] = []
        self.closed = 0

    def __call__(self, options: SandboxOptions, *, slots: int, sources: Iterable[str]) -> FakeRunner:
        self.opened.append(slots)
        self.sources = list(sources)
        return self

    def run(self, job: Job) -> RunResult:
        raise AssertionError("the fake grader runs nothing")

    def close(self) -> None:
        self.closed += 1

    def __enter__(self) -> FakeRunner:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class FakeCode(CodeExercises):
    """Grades by what the source says; remembers every call."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self.threads: set[int] = set()
        self.lock = threading.Lock()
        self.faults: dict[str, BaseException] = {}

    def grade(self, item: str, submission: CodeSubmission, runner: Runner, student: str) -> GradeReport:
        with self.lock:
            self.calls[student, item] += 1
            self.threads.add(threading.get_ident())
        if student in self.faults:
            raise self.faults[student]
        outcome = Outcome(submission.source.split()[1])
        score = {Outcome.RIGHT: 2.0, Outcome.PARTIAL: 1.0, Outcome.WRONG: 0.0}.get(outcome)
        checks = (Check("loads", Verdict.FAILED, 0, 0, "line 3 is no Python"),) if score is None else ()
        return GradeReport(item, "v1", outcome, score, 2.0, checks, student=student, tier=runner.tier)

    def blank(self, item: str) -> tuple[str, float]:
        return "v1", 2.0


@pytest.fixture
def store(tmp_path: Path):
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def handed(folder: Path, student: str, item: str, data: bytes) -> HandedFile:
    path = folder / f"{student}-{item}.py"
    path.write_bytes(data)
    return HandedFile(path, f"{student}/{item}.py", FileKind.CODE, item, hashlib.sha256(data).hexdigest())


def a_class(folder: Path, **sources: str | bytes) -> IntakeResult:
    students = []
    for student, source in sources.items():
        data = source if isinstance(source, bytes) else f"# {source} {student}\n".encode()
        students.append(StudentFiles(student, (handed(folder, student, "softmax", data),)))
    return IntakeResult(tuple(students))


def run(
    intake: IntakeResult, store: Store, code: FakeCode, runner: Callable[..., Runner] | None = None, **more
) -> BatchResult:
    with mock.patch.object(engine.sandbox, "open_runner", runner or FakeRunner()):
        return grade_batch(intake, store=store, code=code, **more)


def counting(ticks: list[int]):
    """Return a progress that notes how much there is to do, and the thread of each step."""

    def begin(total: int):
        ticks.append(total)
        return nullcontext(lambda: ticks.append(threading.get_ident()))

    return begin


def scores(store: Store) -> dict[str, float]:
    return {best.student: best.score for best in store.best_scores()}


def test_a_class_is_graded_and_stored(tmp_path: Path, store: Store) -> None:
    intake = a_class(tmp_path, ada="right", bob="wrong", eve="partial")
    code, runner, ticks = FakeCode(), FakeRunner(), []
    result = run(intake, store, code, runner, workers=2, progress=counting(ticks))
    assert (result.graded, result.graded_before, result.remaining, result.exit_code) == (3, 0, 0, 0)
    assert scores(store) == {"ada": 2.0, "bob": 0.0, "eve": 1.0}
    assert ticks == [3] + [threading.get_ident()] * 3, "the callback runs in the caller's thread"
    assert runner.opened == [2] and runner.closed == 1
    assert sorted(runner.sources) == ["# partial eve\n", "# right ada\n", "# wrong bob\n"]
    attempts = list(store.attempts())
    assert {a.report.mode for a in attempts} == {Mode.MARKS}, "the batch's mode is what is stored"
    assert {a.report.tier for a in attempts} == {"T1"}
    assert {a.source for a in attempts} == {"# right ada\n", "# wrong bob\n", "# partial eve\n"}


def test_each_worker_is_a_thread(tmp_path: Path, store: Store) -> None:
    code = FakeCode()
    barrier = threading.Barrier(3, timeout=60)

    class Waiting(FakeCode):
        def grade(self, *args):
            barrier.wait()
            return code.grade(*args)

    run(a_class(tmp_path, a="right", b="right", c="right"), store, Waiting(), workers=3)
    assert len(code.threads) == 3


def test_a_second_run_grades_nothing_and_opens_no_sandbox(tmp_path: Path, store: Store) -> None:
    intake = a_class(tmp_path, ada="right", bob="wrong")
    code = FakeCode()
    run(intake, store, code)
    runner, ticks = FakeRunner(), []
    result = run(intake, store, code, runner, progress=counting(ticks))
    assert (result.graded, result.graded_before, result.exit_code) == (0, 2, 0)
    assert set(code.calls.values()) == {1}
    assert runner.opened == [] and ticks == []


def test_a_changed_file_is_a_new_submission(tmp_path: Path, store: Store) -> None:
    run(a_class(tmp_path, ada="wrong"), store, FakeCode())
    result = run(a_class(tmp_path, ada="right"), store, FakeCode())
    assert (result.graded, result.graded_before) == (1, 0)
    assert scores(store) == {"ada": 2.0}


def test_practice_grades_dont_count_as_done_for_marks(tmp_path: Path, store: Store) -> None:
    intake = a_class(tmp_path, ada="right")
    run(intake, store, FakeCode(), mode=Mode.PRACTICE)
    assert scores(store) == {}
    assert run(intake, store, FakeCode()).graded == 1


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (RunnerLostError("the zygote is gone", next_step="run again"), "the zygote is gone"),
        (ZeroDivisionError("division by zero"), "a fault of Softmark: ZeroDivisionError"),
        (MemoryError(), "a fault of Softmark: MemoryError"),
        (RecursionError("deep"), "a fault of Softmark: RecursionError"),
    ],
)
def test_a_machine_fault_is_ungraded_and_the_others_go_on(
    tmp_path: Path, store: Store, fault: Exception, told: str
) -> None:
    intake = a_class(tmp_path, ada="right", bob="right", eve="wrong")
    code = FakeCode()
    code.faults["bob"] = fault
    result = run(intake, store, code, workers=1)
    assert (result.graded, result.exit_code) == (2, 3)
    ((name, reason),) = [(u.student, u.reason) for u in result.ungraded]
    assert name == "bob" and told in reason
    assert scores(store) == {"ada": 2.0, "eve": 0.0}, "an ungraded attempt is no 0"
    (waiting,) = store.ungraded()
    assert waiting.report.score is None and told in str(waiting.reason)
    code.faults.clear()
    again = run(intake, store, code)
    assert (again.graded, again.graded_before, again.exit_code) == (1, 2, 0)
    assert scores(store) == {"ada": 2.0, "bob": 2.0, "eve": 0.0}
    assert store.ungraded() == []
    assert code.calls == {("ada", "softmax"): 1, ("bob", "softmax"): 2, ("eve", "softmax"): 1}


def test_a_report_that_says_ungraded_is_ungraded(tmp_path: Path, store: Store) -> None:
    result = run(a_class(tmp_path, ada="ungraded"), store, FakeCode())
    assert result.exit_code == 3 and len(store.ungraded()) == 1


def test_files_that_cant_be_read_get_a_message_and_no_mark(tmp_path: Path, store: Store) -> None:
    intake = a_class(tmp_path, ada="right", bob=b"\xff\xfe\0\0", eve=b"", kim="format_error")
    result = run(intake, store, FakeCode())
    assert (result.graded, result.exit_code) == (1, 1)
    told = {problem.student: problem.message for problem in result.problems}
    assert "UTF-32" in told["bob"] and "empty" in told["eve"] and told["kim"] == "line 3 is no Python"
    assert scores(store) == {"ada": 2.0}
    kept = {a.student: a for a in store.attempts(outcome=Outcome.FORMAT_ERROR)}
    assert set(kept) == {"bob", "eve", "kim"}
    assert kept["bob"].report.score is None and "UTF-32" in str(kept["bob"].reason)


def test_problems_of_the_intake_are_passed_on(tmp_path: Path, store: Store) -> None:
    problem = IntakeProblem("x.pdf", "no")
    intake = IntakeResult(a_class(tmp_path, ada="right").students, (problem,))
    result = run(intake, store, FakeCode())
    assert result.problems == (problem,) and result.exit_code == 1


def test_an_empty_collection_is_no_error(store: Store) -> None:
    runner = FakeRunner()
    result = run(IntakeResult(()), store, FakeCode(), runner)
    assert (result.graded, result.exit_code, runner.opened) == (0, 0, [])


def test_the_sandbox_gets_the_texts_of_the_first_programs_with_what_they_import(
    tmp_path: Path, store: Store
) -> None:
    helper = tmp_path / "helpers.py"
    helper.write_text("import torch\n")
    whole = replace(handed(tmp_path, "ada", "softmax", b"# right ada\n"), beside=(("helpers", helper),))
    gone = handed(tmp_path, "bob", "softmax", b"# right bob\n")
    gone.path.unlink()
    many = [handed(tmp_path, f"s{n}", "softmax", b"# right s\n") for n in range(30)]
    students = [StudentFiles(file.path.name, (file,)) for file in (whole, gone, *many)]
    runner = FakeRunner()
    run(IntakeResult(tuple(students)), store, FakeCode(), runner)
    assert runner.sources[:2] == ["# right ada\n\nimport torch\n", "# right s\n"]
    assert len(runner.sources) < 25


def test_a_sandbox_that_cant_be_opened_stops_before_anything(tmp_path: Path, store: Store) -> None:
    def refuse(options: SandboxOptions, *, slots: int, sources: Iterable[str]) -> Runner:
        raise SandboxError("T1 lacks bubblewrap")

    with pytest.raises(SandboxError):
        run(a_class(tmp_path, ada="right"), store, FakeCode(), refuse)
    assert list(store.attempts()) == []


def test_a_store_that_fails_ends_the_run_and_keeps_what_it_has(tmp_path: Path, store: Store) -> None:
    intake = a_class(tmp_path, **{f"s{n:02d}": "right" for n in range(10)})
    record_all = store.record_all

    def full(attempts):
        if attempts[0].student == "s03":
            raise StoreError("the disk is full")
        return record_all(attempts)

    store.record_all = full  # type: ignore[method-assign]
    runner = FakeRunner()
    with pytest.raises(StoreError, match="disk is full"):
        run(intake, store, FakeCode(), runner, workers=1)
    assert runner.closed == 1
    assert sorted(scores(store)) == ["s00", "s01", "s02"]


@pytest.mark.parametrize("fault", [TypeError("five"), IndexError(), RecursionError("deep"), MemoryError()])
def test_a_reader_that_fails_on_one_file_costs_nobody_anything(
    tmp_path: Path, store: Store, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = a_class(tmp_path, ada="right", bob="right", eve="wrong")

    def read(path: Path, *more, **named):
        if path.name.startswith("bob"):
            raise fault
        return read_code_file(path, *more, **named)

    with monkeypatch.context() as patch:
        patch.setattr(grade_file, "read_code_file", read)
        result = run(intake, store, FakeCode(), workers=1)
    assert (result.graded, result.exit_code) == (2, 3)
    ((name, reason),) = [(u.name, u.reason) for u in result.ungraded]
    assert name == "bob/softmax.py" and "a fault of Softmark" in reason and type(fault).__name__ in reason
    assert scores(store) == {"ada": 2.0, "eve": 0.0} and len(store.ungraded()) == 1
    assert run(intake, store, FakeCode(), workers=1).graded == 1 and scores(store)["bob"] == 2.0


def test_what_the_store_refuses_of_one_file_stops_no_other(tmp_path: Path, store: Store) -> None:
    intake = a_class(tmp_path, ada="right", bob="right", eve="wrong")
    record_all = store.record_all

    def choosy(attempts):
        if attempts[0].student == "bob":
            raise UnstorableError("something can't be stored")
        return record_all(attempts)

    store.record_all = choosy  # type: ignore[method-assign]
    result = run(intake, store, FakeCode(), workers=1)
    assert (result.graded, result.exit_code) == (2, 3)
    assert [u.student for u in result.ungraded] == ["bob"]


def test_stop_finishes_what_is_begun(tmp_path: Path, store: Store) -> None:
    intake = a_class(tmp_path, **{f"s{n}": "right" for n in range(20)})
    stop = threading.Event()
    done: list[int] = []

    def advance() -> None:
        done.append(1)
        stop.set()

    result = run(intake, store, FakeCode(), workers=1, stop=stop, progress=lambda total: nullcontext(advance))
    assert result.interrupted and result.exit_code == 130
    assert result.graded == len(scores(store)) and result.remaining == 20 - result.graded > 0
    rest = run(intake, store, FakeCode())
    assert (rest.graded_before, rest.graded) == (result.graded, result.remaining)


def test_memory_stays_flat(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    import gc
    import weakref

    alive: weakref.WeakSet[object] = weakref.WeakSet()
    most = [0]

    class Marked(str):
        pass

    def read(path: Path, name: str, beside: Mapping[str, Path], *, exercise: str) -> CodeSubmission:
        source = Marked("# right x\n")
        alive.add(source)
        gc.collect(0)
        most[0] = max(most[0], len(alive))
        return CodeSubmission(source, name, hashlib.sha256(path.read_bytes()).hexdigest())

    monkeypatch.setattr(grade_file, "read_code_file", read)
    run(a_class(tmp_path, **{f"s{n}": "right" for n in range(50)}), store, FakeCode(), workers=2)
    assert len(scores(store)) == 50 and most[0] <= 6, "sources are let go when they are graded"


# --- a run in a process of its own, which is killed or interrupted ---

SCRIPT = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
import test_batch_local as t
from engine.store import open_store
folder = Path(sys.argv[1])
class Slow(t.FakeCode):
    def grade(self, item, submission, runner, student):
        with open(folder / "calls.txt", "a") as log:
            log.write(student + "\\n")
        time.sleep(float(sys.argv[2]))
        return super().grade(item, submission, runner, student)
intake = t.a_class(folder, **{{f"s{{n:02d}}": "right" for n in range(30)}})
with open_store(folder / "store.db") as store:
    print("begun", flush=True)
    result = t.run(intake, store, Slow(), workers=2)
    r = result
    print(f"graded {{r.graded}} kept {{r.graded_before}} left {{r.remaining}}", end=" ")
    print(f"exit {{r.exit_code}}", flush=True)
"""


def start(folder: Path, pause: float) -> subprocess.Popen[str]:
    code = textwrap.dedent(SCRIPT).format(tests=str(Path(__file__).parent))
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder), str(pause)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    return process


def wait_for_grades(folder: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    with open_store(folder / "store.db") as store:
        while len(scores(store)) < count:
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_kill_9_loses_at_most_the_files_in_flight(tmp_path: Path) -> None:
    process = start(tmp_path, 0.05)
    wait_for_grades(tmp_path, 5)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with open_store(tmp_path / "store.db") as store:
        kept = set(scores(store))
    begun = (tmp_path / "calls.txt").read_text().split()
    assert 5 <= len(kept) < 30
    assert len(set(begun) - kept) <= 2, "one file a thread"
    out, _ = start(tmp_path, 0).communicate()
    assert f"graded {30 - len(kept)} kept {len(kept)} left 0 exit 0" in out
    calls = Counter((tmp_path / "calls.txt").read_text().split())
    assert all(calls[student] == 1 for student in kept), "what was graded once isn't graded again"
    with open_store(tmp_path / "store.db") as store:
        assert len(scores(store)) == 30


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGINT")
def test_ctrl_c_stops_cleanly(tmp_path: Path) -> None:
    process = start(tmp_path, 0.05)
    wait_for_grades(tmp_path, 3)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert "exit 130" in out and "Traceback" not in errors
    graded = int(out.split("graded ")[1].split()[0])
    with open_store(tmp_path / "store.db") as store:
        assert len(scores(store)) == graded < 30
    assert len((tmp_path / "calls.txt").read_text().split()) == graded, "what was begun was finished"


def test_an_engine_error_is_what_the_contract_says() -> None:
    # grade_batch tells ours from the student's by this class alone.
    assert issubclass(RunnerLostError, EngineError) and not issubclass(StoreError, RunnerLostError)
