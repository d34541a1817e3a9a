"""How Softmark is measured: the class of 20 cold and warm, a mixed class, one bare fork beside each."""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from classes.mixing import Program, write_class
from classes.table import ClassSubmission

__all__ = ["grade_mixed", "overhead", "resident_mib", "rounds_of_20"]

ROOT = Path(__file__).parents[2]


def resident_mib() -> float:
    """Return the resident memory of this process (Linux; elsewhere its peak)."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / 2**20


# --- the class of 20 ---------------------------------------------------------------------


def _prepared(items: Sequence[str], seed: bytes) -> dict[str, tuple[Any, Any]]:
    """Load the exercises and freeze new plans: nothing found for another plan can be used."""
    from engine.code import exercise_of, freeze_plan
    from engine.items.bank import builtin_bank

    bank = builtin_bank()
    made = {}
    for item in items:
        exercise = exercise_of(bank, item)
        made[item] = exercise, freeze_plan(exercise, seed)
    return made


def rounds_of_20(known: Sequence[ClassSubmission], rounds: int) -> Iterator[dict[str, Any]]:
    """Grade the class once or more in this process, explanations included.

    Yields
    ------
    dict
        ``prepare`` (seconds for loading exercises and freezing plans), ``seconds`` per submission,
        ``verdicts`` (check → verdict per submission), ``outcomes``. The first round is the cold one.
    """
    from engine.grading import grade_code
    from engine.intake import read_code_file
    from engine.model import Mode
    from engine.sandbox import SandboxOptions, open_runner

    items = sorted({handed.item for handed in known})
    texts = (handed.path.read_text("utf-8", "replace") for handed in known)  # a batch looks into them too
    with open_runner(SandboxOptions(tier="T1"), sources=texts) as runner:
        for number in range(rounds):
            begun = time.perf_counter()
            # another seed each round: what was found for one plan explains nothing in the next round
            prepared = _prepared(items, f"round {number}".encode())
            found: dict[str, Any] = {"prepare": time.perf_counter() - begun, "seconds": []}
            reports = []
            for handed in known:
                begun = time.perf_counter()
                submission = read_code_file(handed.path)
                reports.append(
                    grade_code(*prepared[handed.item], submission, runner, mode=Mode.MARKS, student=None)
                )
                found["seconds"].append(time.perf_counter() - begun)
            found["verdicts"] = [{c.id: str(c.verdict) for c in report.checks} for report in reports]
            found["outcomes"] = [str(report.outcome) for report in reports]
            yield found


# --- a bare fork beside it ---------------------------------------------------------------


def overhead(known: Sequence[ClassSubmission], rounds: int) -> dict[str, list[list[float]]]:
    """Grade each submission and let a bare fork make the same calls, in turn.

    Without explanations: their calls aren't the plan's.

    Returns
    -------
    dict
        ``softmark`` and ``fork``: seconds per round and submission.
    """
    from engine.grading import grade_code
    from engine.intake import read_code_file
    from engine.model import Mode
    from engine.sandbox import SandboxOptions, open_runner

    prepared = _prepared(sorted({handed.item for handed in known}), b"overhead")
    both: dict[str, list[list[float]]] = {"softmark": [], "fork": []}
    with open_runner(SandboxOptions(tier="T1")) as runner, _bare_forker() as fork:
        for number in range(rounds + 1):  # the first round is warming up
            row: dict[str, list[float]] = {"softmark": [], "fork": []}
            for handed in known:
                exercise, plan = prepared[handed.item]
                begun = time.perf_counter()
                submission = read_code_file(handed.path)
                grade_code(exercise, plan, submission, runner, mode=Mode.MARKS, student=None, explain=False)
                row["softmark"].append(time.perf_counter() - begun)
                calls = plan.calls(exercise.function, "torch" if handed.torch else "numpy")
                row["fork"].append(fork(handed, calls))
            if number:
                for name, seconds in row.items():
                    both[name].append(seconds)
    return both


@contextmanager
def _bare_forker() -> Iterator[Callable[[ClassSubmission, Any], float]]:
    """Give a function that lets ``bare_fork.py`` run a submission and returns the seconds."""
    child = subprocess.Popen(
        [sys.executable, str(ROOT / "benchmarks/classes/bare_fork.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdout.readline()

    def fork(handed: ClassSubmission, calls: Any) -> float:
        assert child.stdin is not None
        assert child.stdout is not None
        plain = [(call.function, call.args, dict(call.kwargs)) for call in calls]
        job = pickle.dumps((handed.path.read_text(encoding="utf-8"), handed.torch, plain))
        begun = time.perf_counter()
        child.stdin.write(len(job).to_bytes(8, "little") + job)
        child.stdin.flush()
        size = int.from_bytes(child.stdout.read(8), "little")
        child.stdout.read(size)
        return time.perf_counter() - begun

    try:
        yield fork
    finally:
        child.stdin.close()
        child.wait()


# --- a mixed class -----------------------------------------------------------------------


class _Grader:
    """Grades each file of :func:`engine.runs.grade_batch`; remembers the outcomes."""

    def __init__(self, explain: bool) -> None:
        from engine.items.bank import builtin_bank

        self._bank, self._explain = builtin_bank(), explain
        self._prepared: dict[str, tuple[Any, Any]] = {}
        self._lock = threading.Lock()
        self.outcomes: dict[str, str] = {}
        self.seconds: dict[str, float] = {}

    def prepare(self, items: Sequence[str]) -> None:
        """Load the exercises and freeze their plans."""
        self._prepared = _prepared(items, b"a mixed class")

    def grade(self, item: str, submission: Any, runner: Any, student: str) -> Any:
        import engine.grading
        from engine.model import Mode

        begun = time.perf_counter()
        report = engine.grading.grade_code(
            *self._prepared[item], submission, runner, mode=Mode.MARKS, student=student, explain=self._explain
        )
        with self._lock:
            self.outcomes[student] = str(report.outcome)
            self.seconds[student] = time.perf_counter() - begun
        return report

    def blank(self, item: str) -> tuple[str, float]:
        return self._bank.version(item), self._bank.load(item).points


def grade_mixed(
    programs: Iterator[Program],
    *,
    explain: bool,
    workers: int | None,
    progress: Callable[[int], None] = lambda done: None,
    wrap: Callable[[Any], Any] = lambda runner: runner,
) -> dict[str, Any]:
    """Grade a class as ``grade batch`` does: collected from a folder, every result stored.

    Parameters
    ----------
    programs : iterator of Program
    explain : bool
        Whether mistakes are named and counterexamples sought.
    workers : int or None
        Slots of the sandbox; all cores by default.
    progress : callable
        Called with the number of files graded so far.
    wrap : callable
        Put around the runner.

    Returns
    -------
    dict
        ``seconds`` of grading (from the first file to the last result in the store), ``prepare``
        (sandbox, exercises and plans), ``right`` and ``wrong`` (seconds per file and slot),
        ``surprises`` (files whose outcome isn't the known one), ``memory`` before and after.
    """
    from engine import intake, sandbox, store
    from engine import runs as batch
    from engine.sandbox import SandboxOptions, open_runner

    grader = _Grader(explain)
    slots = workers or os.cpu_count() or 1
    done = 0

    def took() -> None:
        nonlocal done
        done += 1
        progress(done)

    @contextmanager
    def counting(_: int) -> Iterator[Callable[[], None]]:
        yield took

    with tempfile.TemporaryDirectory() as folder:
        written = write_class(programs, Path(folder, "handed-in"))
        items = sorted({program.item for program in written.values()})
        begun = time.perf_counter()
        grader.prepare(items)
        with open_runner(SandboxOptions(tier="T1"), slots=slots) as runner:
            _warm_up(runner, slots)
            prepare = time.perf_counter() - begun
            unpacked = Path(folder, "unpacked")
            unpacked.mkdir()
            collected = intake.collect(Path(folder, "handed-in"), unpacked, items=items)
            before = resident_mib()
            begun = time.perf_counter()
            with (
                store.open_store(Path(folder, "store.sqlite")) as kept,
                mock.patch.object(sandbox, "open_runner", lambda *_, **__: wrap(_BorrowedRunner(runner))),
            ):
                batch.grade_batch(
                    collected,
                    store=kept,
                    code=grader,
                    workers=slots,
                    progress=counting,
                )
            seconds = time.perf_counter() - begun
    return {
        "files": len(written),
        "programs": len({(p.item, p.origin) for p in written.values()}),
        "seconds": seconds,
        "prepare": prepare,
        "right": [grader.seconds[s] for s, p in written.items() if p.right and s in grader.seconds],
        "wrong": [grader.seconds[s] for s, p in written.items() if not p.right and s in grader.seconds],
        "surprises": surprises(written, grader.outcomes),
        "memory": [before, resident_mib()],
    }


def surprises(written: dict[str, Program], outcomes: dict[str, str]) -> list[str]:
    """Return one line per file whose outcome isn't what its origin says."""
    lines = []
    for student, program in written.items():
        outcome = outcomes.get(student, "not graded")
        fine = outcome == "right" if program.right else outcome in ("partial", "wrong")
        if not fine:
            kind = "right" if program.right else "wrong"
            lines.append(f"{program.item} {program.origin} ({kind}): {outcome}")
    return lines


class _BorrowedRunner:
    """A runner that stays open when the batch run gives it back."""

    def __init__(self, runner: Any) -> None:
        self._runner = runner

    @property
    def tier(self) -> str:
        return str(self._runner.tier)

    def run(self, job: Any) -> Any:
        return self._runner.run(job)

    def close(self) -> None:
        """Leave it open."""

    def __enter__(self) -> _BorrowedRunner:
        return self

    def __exit__(self, *cause: object) -> None:
        self.close()


def _warm_up(runner: Any, slots: int) -> None:
    """Wait until every slot has run something with torch and something without."""
    from engine.runner import Job

    jobs = [
        Job(source, "submission.py", ()) for source in ("x = 1\n", "import torch\n") for _ in range(slots)
    ]
    threads = [threading.Thread(target=runner.run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
