"""Programs that compute nothing earn nothing, whatever law they keep by accident."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.code import CodeExercise
from engine.model import GradeReport, Outcome, Verdict

pytestmark = pytest.mark.slow

CODE = Path(__file__).parents[3] / "problems" / "code"
ITEMS = sorted(path.name for path in CODE.iterdir())
# neither NaN nor 0.5 is a token: what these exercises return instead stands in a list of its own below
TOKENS = {"beam-search", "greedy-decode", "sample-tokens"}
# what takes the place of every right result; `like` keeps its shape and dtype
FILLED = {
    "NaN": ("like(right, float('nan'))", "returns NaN for every input"),
    "zeros": ("like(right, 0)", "returns zeros for every input"),
    "one number": ("like(right, 0.5)", "returns the number 0.5 everywhere for every input"),
}
LIKE = """

def like(value, number):
    if isinstance(value, (list, tuple)):
        return type(value)(like(entry, number) for entry in value)
    return value * 0 + number if not str(value.dtype).endswith("bool") else value & False


_right = {function}


def {function}(*args, **kwargs):
    right = _right(*args, **kwargs)
    return {result}
"""


def _filled(exercise: CodeExercise, solution: str, result: str) -> str:
    return exercise.solutions[solution] + LIKE.format(function=exercise.function, result=result)


def _earns_nothing(report: GradeReport, told: str) -> None:
    assert report.outcome is Outcome.WRONG and report.score == 0
    assert not report.diagnosis, "who computes nothing made no known mistake"
    checks = {check.id: check for check in report.checks}
    assert checks["runs"].verdict is Verdict.FAILED and told in checks["runs"].message
    rubric = [check for check in report.checks if check.max_points]
    assert rubric and all(check.verdict is Verdict.SKIPPED for check in rubric)


@pytest.mark.parametrize("solution", ["solution_numpy.py", "solution_torch.py"])
@pytest.mark.parametrize("kind", FILLED)
@pytest.mark.parametrize("item", [item for item in ITEMS if item not in TOKENS and item != "causal-mask"])
def test_results_of_one_number_earn_nothing(
    item: str,
    kind: str,
    solution: str,
    exercise_of: Callable[[str], CodeExercise],
    grade: Callable[..., GradeReport],
) -> None:
    result, told = FILLED[kind]
    _earns_nothing(grade(item, _filled(exercise_of(item), solution, result)), told)


@pytest.mark.parametrize("item", ITEMS)
def test_programs_that_always_raise_earn_nothing(
    item: str, exercise_of: Callable[[str], CodeExercise], grade: Callable[..., GradeReport]
) -> None:
    source = f"def {exercise_of(item).signature}:\n    raise IndexError('no such row')\n"
    _earns_nothing(grade(item, source), "It raises an exception for every input")


@pytest.mark.parametrize("item", ["softmax", "masked-softmax", "hard-alignment", "softmax-vjp"])
def test_programs_that_hand_an_argument_back_earn_nothing(
    item: str, exercise_of: Callable[[str], CodeExercise], grade: Callable[..., GradeReport]
) -> None:
    exercise = exercise_of(item)
    first = exercise.signature.split("(")[1].split(",")[0].rstrip(")")
    _earns_nothing(grade(item, f"def {exercise.signature}:\n    return {first}\n"), "an argument as it is")


@pytest.mark.parametrize(
    ("item", "result", "told"),
    [
        ("causal-mask", "right | True", "returns the number 1 everywhere"),
        ("causal-mask", "right & False", "returns zeros"),
        ("greedy-decode", "[0] * len(right)", "returns zeros"),
        ("greedy-decode", "[]", "returns an empty result"),
        ("greedy-decode", "[1, 0, 2]", "returns the same result"),
        ("sample-tokens", "[0] * len(right)", "returns zeros"),
        ("sample-tokens", "[2] * len(right)", "returns the number 2 everywhere"),
        ("sample-tokens", "[]", "returns an empty result"),
        ("sample-tokens", "[1, 0, 2]", "returns the same result"),
        ("beam-search", "[([1, 0], -0.5)]", "returns the same result"),
        ("beam-search", "[]", "returns an empty result"),
    ],
)
def test_other_results_that_are_always_the_same_earn_nothing(
    item: str,
    result: str,
    told: str,
    exercise_of: Callable[[str], CodeExercise],
    grade: Callable[..., GradeReport],
) -> None:
    _earns_nothing(grade(item, _filled(exercise_of(item), "solution_numpy.py", result)), told)


@pytest.mark.parametrize(
    ("item", "source"),
    [
        (
            "context",
            "import numpy as np\ndef context(w, H):\n    return np.random.rand(*w.shape[:-1], H.shape[1])",
        ),
        ("softmax", "import torch\ndef softmax(x, axis=-1):\n    return torch.rand_like(x).softmax(axis)"),
    ],
)
def test_random_numbers_earn_nothing(item: str, source: str, grade: Callable[..., GradeReport]) -> None:
    report = grade(item, source)
    (failed,) = [check for check in report.checks if check.verdict is Verdict.FAILED]
    assert report.score == 0 and not report.diagnosis
    assert "other numbers each time, for the same input too" in (failed.message or "")


@pytest.mark.parametrize(
    ("item", "body"),
    [
        ("greedy-decode", "def greedy_decode(step, s0, bos, eos, max_len):\n    return [eos]\n"),
        (
            "greedy-decode",
            "def greedy_decode(step, s0, bos, eos, max_len):\n    return [eos] * max_len\n",
        ),
        ("beam-search", "def beam_search(step, s0, b, bos, eos, max_len):\n    return [([eos], 0.0)]\n"),
    ],
)
def test_a_search_that_never_asks_the_decoder_earns_nothing(
    item: str, body: str, grade: Callable[..., GradeReport]
) -> None:
    report = grade(item, body)
    _earns_nothing(report, "returns the same whatever the decoder gives, and never the right result")
