"""Plans are fair and hidden: cheating on the grader gains nothing, hidden inputs reach no report.

Every submission here runs in the real sandbox, at the strongest tier of this machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from engine.code import exercise_of, freeze_plan
from engine.code.exercise import CodeExercise
from engine.grading import grade_code
from engine.items import builtin_bank
from engine.model import CodeSubmission, GradeReport, Mode, Outcome
from engine.runner import Runner
from engine.runs.code_exercises import plan_seed
from engine.sandbox import open_runner

RIGHT = """
import numpy as np

def right(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
Grade = Callable[[str], GradeReport]


@pytest.fixture(scope="module")
def exercise() -> CodeExercise:
    bank = builtin_bank()
    return exercise_of(bank, "softmax")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with open_runner() as opened:
        assert opened.tier in ("T1", "T2")
        yield opened


@pytest.fixture
def grade(exercise: CodeExercise, runner: Runner) -> Grade:
    plan = freeze_plan(exercise, b"hidden plans")

    def graded(source: str) -> GradeReport:
        digest = hashlib.sha256(source.encode()).hexdigest()
        submission = CodeSubmission(source, "softmax.py", digest)
        return grade_code(exercise, plan, submission, runner, mode=Mode.MARKS, student="s01")

    return graded


def test_the_honest_core_of_all_attacks_is_right(grade: Grade) -> None:
    source = RIGHT + "def softmax(x, axis=-1):\n    return right(x, axis)\n"
    assert grade(source).outcome is Outcome.RIGHT


TRACES = {
    "file": (
        "import os\nseen = os.path.exists('/tmp/softmark-trace')",
        "open('/tmp/softmark-trace', 'w').write('x')",
    ),
    "shared-memory": (
        "import os\nseen = os.path.exists('/dev/shm/softmark-trace')",
        "open('/dev/shm/softmark-trace', 'w').write('x')",
    ),
    "environment": (
        "import os\nseen = 'SOFTMARK_TRACE' in os.environ",
        "os.environ['SOFTMARK_TRACE'] = '1'",
    ),
    "module": ("import sys\nseen = 'softmark_trace' in sys.modules", "sys.modules['softmark_trace'] = sys"),
    "library": ("seen = hasattr(np, 'softmark_trace')", "np.softmark_trace = 1"),
    "builtins": ("import builtins\nseen = hasattr(builtins, 'trace')", "builtins.trace = 1"),
}


@pytest.mark.parametrize("name", TRACES)
def test_a_second_run_finds_no_trace_of_the_first(grade: Grade, name: str) -> None:
    look, leave = TRACES[name]
    source = (
        RIGHT
        + f"""
{look}
try:
    {leave}
except Exception:
    pass

def softmax(x, axis=-1):
    return right(x, axis) if seen else np.zeros_like(x)
"""
    )
    first, second = grade(source), grade(source)
    assert first.outcome is not Outcome.RIGHT
    assert (second.outcome, second.score) == (first.outcome, first.score)


COUNTING = {
    "right-first": "calls <= 5",
    "wrong-first": "calls > 5",
    "every-second": "calls % 2",
    "last-only-wrong": "calls < 25",
}


@pytest.mark.parametrize("name", COUNTING)
def test_counting_calls_costs_marks(grade: Grade, name: str) -> None:
    source = (
        RIGHT
        + f"""
calls = 0

def softmax(x, axis=-1):
    global calls
    calls += 1
    return right(x, axis) if {COUNTING[name]} else np.full_like(x, 0.5)
"""
    )
    report = grade(source)
    assert report.outcome in (Outcome.WRONG, Outcome.PARTIAL)
    assert report.score is not None and report.score < report.max_score


def test_replaying_what_was_seen_costs_the_check_of_purity(grade: Grade) -> None:
    source = (
        RIGHT
        + """
memory = {}

def softmax(x, axis=-1):
    key = (x.tobytes(), x.shape, axis)
    if key in memory:
        return memory[key] * 2
    memory[key] = right(x, axis)
    return memory[key]
"""
    )
    report = grade(source)
    assert report.outcome is Outcome.PARTIAL
    assert [c.id for c in report.checks if c.verdict.value == "failed"] == ["layout", "pure"]


def test_a_remembered_right_result_is_right(grade: Grade) -> None:
    """A cache is no cheating: it gives what the definition gives."""
    source = (
        RIGHT
        + """
memory = {}

def softmax(x, axis=-1):
    key = (x.tobytes(), x.shape, x.dtype.name, axis)
    if key not in memory:
        memory[key] = right(x, axis)
    return memory[key].copy()
"""
    )
    assert grade(source).outcome is Outcome.RIGHT


DETECTORS = {
    "our-modules": "any(m.split('.')[0] in ('reference', 'problems', 'tests') for m in sys.modules)",
    "our-code": "any('judge' in m or 'properties' in m for m in sys.modules)",
    "expected-values": "any('expected' in name for name in dir(sys.modules['__main__']))",
    "seed": "'seed' in ' '.join([*os.environ, *sys.argv]).lower()",
    "frames": "any('expected' in f.f_locals or 'plan_seed' in f.f_locals for f in frames())",
}


@pytest.mark.parametrize("name", DETECTORS)
def test_nothing_of_the_grader_shows_in_the_child(grade: Grade, name: str) -> None:
    """The attack is wrong where it finds something, so full marks prove that there was nothing."""
    source = (
        RIGHT
        + f"""
import os, sys

def frames():
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back

def softmax(x, axis=-1):
    return np.zeros_like(x) if {DETECTORS[name]} else right(x, axis)
"""
    )
    report = grade(source)
    assert report.outcome is Outcome.RIGHT, report.checks


CHANNELS = {
    "exception-text": "raise ValueError('MARK ' + repr(x.tolist()))",
    "exception-class": "raise type('MARK' + str(x.ravel()[0]).replace('.', '_'), (Exception,), {})('MARK')",
    "exception-notes": "e = KeyError('MARK'); e.add_note('MARK' + repr(x)); raise e",
    "exception-cause": "raise RuntimeError('MARK') from ValueError('MARK' + repr(x))",
    "system-exit": "raise SystemExit('MARK' + repr(x.tolist()))",
    "shape": "return np.zeros((7919, x.size))",
    "values": "return np.full_like(x, 424242.0)",
    "dtype": "return np.zeros(x.shape, np.uint8)",
    "text": "return 'MARK' + repr(x)",
    "list": "return ['MARK', x.tolist()]",
    "dict-key": "return {'MARK' + repr(x.tolist()): 1}",
    "stdout": "print('MARK', x); return np.zeros_like(x)",
    "stderr": "import sys; print('MARK', x, file=sys.stderr); return np.zeros_like(x)",
    "warning": "import warnings; warnings.warn('MARK' + repr(x)); return np.zeros_like(x)",
}


@pytest.mark.parametrize("name", CHANNELS)
def test_hidden_inputs_reach_no_report(grade: Grade, exercise: CodeExercise, name: str) -> None:
    """The attack behaves on public inputs and tells what it can of all others."""
    plan = freeze_plan(exercise, b"hidden plans")
    public = [_key(case.args[0]) for case in plan.cases if case.public]
    source = (
        RIGHT
        + f"""
public = {public!r}

def softmax(x, axis=-1):
    if repr(x.tolist()) in public or x.size <= 4:
        return right(x, axis)
    {CHANNELS[name]}
"""
    )
    report = grade(source)
    assert report.outcome in (Outcome.WRONG, Outcome.PARTIAL)
    counterexample = "" if report.counterexample is None else report.counterexample.code
    told = repr([(c.message, c.verdict.value) for c in report.checks]) + repr(report.notes)
    assert "MARK" not in told and "7919" not in told and "424242" not in told and "uint8" not in told
    everything = repr(asdict(report))
    for case in plan.cases:
        if not case.public and np.asarray(case.args[0]).size > 2:
            assert _key(case.args[0]) not in everything
            assert _key(case.args[0]) not in counterexample


def _key(value: object) -> str:
    return repr(np.asarray(value).tolist())


def test_plans_of_two_seeds_have_other_hidden_inputs(exercise: CodeExercise) -> None:
    one, two = (freeze_plan(exercise, seed) for seed in (b"one", b"two"))
    hidden = [{_key(c.args[0]) for c in plan.cases if not c.public} for plan in (one, two)]
    shown = [{_key(c.args[0]) for c in plan.cases if c.public} for plan in (one, two)]
    assert shown[0] == shown[1]
    assert len(hidden[0] & hidden[1]) < len(hidden[0]) / 4


def test_a_class_has_the_plan_of_its_secret_and_version() -> None:
    seeds = {
        plan_seed(secret, item, version)
        for secret in (b"a" * 32, b"b" * 32)
        for item in ("softmax", "sdpa")
        for version in ("1", "2")
    }
    assert len(seeds) == 8


def test_a_fault_that_needs_an_earlier_call_is_shown_by_two_calls(grade: Grade) -> None:
    """What one call alone would not show, the pasted example shows with two."""
    source = (
        RIGHT
        + """
calls = 0

def softmax(x, axis=-1):
    global calls
    calls += 1
    return right(x, axis) if calls == 1 else np.zeros_like(x)
"""
    )
    report = grade(source)
    assert report.outcome is not Outcome.RIGHT
    assert report.counterexample is not None
    shown = report.counterexample.code
    assert shown.count("softmax(x)") == 2
    names: dict[str, Any] = {}
    exec(source, names)
    exec(shown, names)
    assert names["calls"] == 2 and not names["softmax"](names["x"]).any()
