"""Code grading through the real sandbox: the example class, our own solutions, mistakes, and hogs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.code import CodeExercise, freeze_plan, load_exercise
from engine.code.explain.in_process import TrustedRunner
from engine.code.plan import InputPlan
from engine.grading import grade_code
from engine.items import load_spec
from engine.model import CodeSubmission, GradeReport, Mode, Verdict
from engine.runner import Runner
from engine.sandbox import SandboxOptions, open_runner

ROOT = Path(__file__).parents[2]
SUBMISSIONS = ROOT / "examples" / "course" / "submissions"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "examples" / "expected.yaml").read_text())
TABLE = [(student, item) for student, items in EXPECTED.items() for item in items]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with open_runner(SandboxOptions(tier="T1")) as opened:
        assert opened.tier == "T1"
        yield opened


@cache
def prepared(item: str) -> tuple[CodeExercise, InputPlan]:
    path = ROOT / "problems" / "code" / item / f"{item}.yaml"
    exercise = load_exercise(load_spec(path), path.parent, "version")
    return exercise, freeze_plan(exercise, b"integration")


def graded(item: str, source: str, runner: Runner) -> GradeReport:
    submission = CodeSubmission(source, f"{item}.py", hashlib.sha256(source.encode()).hexdigest())
    return grade_code(*prepared(item), submission, runner, mode=Mode.MARKS, student=None)


def test_the_example_class_is_complete() -> None:
    found = {(path.parent.name, path.stem) for path in SUBMISSIONS.glob("*/*.py")}
    assert found == set(TABLE)
    assert list(EXPECTED) == [f"s{number:02d}" for number in range(1, 21)]
    uses_torch = {s for s, _ in TABLE if "import torch" in (SUBMISSIONS / s / f"{_}.py").read_text()}
    assert uses_torch == {f"s{number}" for number in range(11, 21)}


@pytest.mark.parametrize(("student", "item"), TABLE)
def test_the_example_class_gets_the_known_verdicts(student: str, item: str, runner: Runner) -> None:
    known = EXPECTED[student][item]
    report = graded(item, (SUBMISSIONS / student / f"{item}.py").read_text(), runner)
    assert str(report.outcome) == known["outcome"], [c for c in report.checks if c.message]
    assert [found.misconception for found in report.diagnosis] == known["misconceptions"]
    stopped = [str(c.verdict) for c in report.checks if c.verdict not in (Verdict.PASSED, Verdict.SKIPPED)]
    if "verdict" in known:
        assert stopped[0] == known["verdict"]
    else:
        assert set(stopped) <= {"failed"}
    ran = any(c.id == "runs" and c.verdict is not Verdict.SKIPPED for c in report.checks)
    assert report.tier == "T1" or not ran


@pytest.mark.parametrize("item", ["softmax", "sdpa"])
def test_the_sandbox_and_the_trusted_runner_agree_on_our_own_code(item: str, runner: Runner) -> None:
    exercise, _ = prepared(item)
    sources = [*exercise.solutions.values(), *(mutant.source for mutant in exercise.mutants[::4])]
    for source in sources:
        inside, here = (graded(item, source, found) for found in (runner, TrustedRunner()))
        assert inside.library == ("torch" if "import torch" in source else "numpy")
        assert replace(inside, tier=None, library=None) == replace(here, tier=None)


def test_torch_that_the_source_hides_costs_no_mark(runner: Runner) -> None:
    """It runs beside numpy alone, then again beside torch; it gets arrays of numpy, as its source shows."""
    source = """
import importlib
import numpy as np

def softmax(x, axis=-1):
    torch = importlib.import_module("tor" + "ch")
    if not x.size:
        return x.copy()
    return torch.softmax(torch.from_numpy(np.ascontiguousarray(x)), axis).numpy().copy()
"""
    report = graded("softmax", source, runner)
    assert (report.outcome, report.library) == ("right", "torch"), [c for c in report.checks if c.message]


HOGS = {
    "memory": ("np.ones(10**11)", {Verdict.OUT_OF_MEMORY, Verdict.FAILED}),
    "crash": ("__import__('ctypes').string_at(0)", {Verdict.CRASHED, Verdict.FAILED}),
    "giant": ("np.broadcast_to(x.ravel()[0], (10**6, 10**6))", {Verdict.FAILED, Verdict.OUT_OF_MEMORY}),
    "exit": ("__import__('os')._exit(0)", {Verdict.CRASHED}),
    "masked array": ("np.ma.masked_array(x, x > 0)", {Verdict.FAILED, Verdict.PASSED}),
    "object array": ("np.array([x, None], dtype=object)", {Verdict.FAILED}),
    "generator": ("(v for v in x)", {Verdict.FAILED}),
}


@pytest.mark.parametrize("name", HOGS)
def test_what_the_code_does_is_a_verdict_and_never_a_full_mark(name: str, runner: Runner) -> None:
    body, verdicts = HOGS[name]
    report = graded("softmax", f"import numpy as np\ndef softmax(x, axis=-1):\n    return {body}\n", runner)
    assert report.score is not None and report.score < 1.0
    found = {check.id: check.verdict for check in report.checks}
    assert found["runs"] in verdicts
    right = prepared("softmax")[0].solutions["solution_numpy.py"]
    assert graded("softmax", right, runner).score == 10.0  # and the next one is graded as ever


def test_a_crash_in_a_late_call_keeps_the_other_checks(runner: Runner) -> None:
    source = """
import os
import numpy as np
def softmax(x, axis=-1):
    if x.dtype == np.float16:
        os.abort()
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
    report = graded("softmax", source, runner)
    lost = {check.id for check in report.checks if check.verdict is not Verdict.PASSED}
    assert lost == {"dtype", "half"} and report.score == 9.25  # of 0.5 and 0.25
    assert all(c.verdict is Verdict.CRASHED for c in report.checks if c.id in lost)


def test_a_sleep_in_one_call_costs_only_its_checks(runner: Runner) -> None:
    source = """
import time
import numpy as np
def softmax(x, axis=-1):
    if x.dtype == np.float16 and x.shape == (3, 3):
        time.sleep(60)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
    report = graded("softmax", source, runner)
    lost = {check.id: check.verdict for check in report.checks if check.verdict is not Verdict.PASSED}
    assert lost["dtype"] is Verdict.TIMED_OUT and set(lost) == {"dtype", "half"}, lost
