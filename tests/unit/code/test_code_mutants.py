"""Every known mistake is killed by its check and named, whoever writes it and in whatever library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.code import CodeExercise
from engine.items import builtin_bank
from engine.model import GradeReport, Outcome, Verdict

pytestmark = pytest.mark.slow

BANK = builtin_bank()
TWINS = Path(__file__).parent / "twins"
CODE = Path(__file__).parents[3] / "problems" / "code"
FILES = [
    (item, path.stem)
    for item in ("softmax", "sdpa")
    for path in sorted((CODE / item / "mutants").glob("*.py"))
]
TWINNED = [(item, stem) for item, stem in FILES if (TWINS / item / f"{stem}.py").exists()]
SEEDS = range(3)

Grade = Callable[..., GradeReport]


def _mutant(exercise: CodeExercise, stem: str):  # type: ignore[no-untyped-def]
    return next(mutant for mutant in exercise.mutants if mutant.filename == f"mutants/{stem}.py")


@pytest.mark.parametrize(("item", "stem"), FILES)
def test_every_mutant_file_is_declared_and_has_a_twin(
    item: str, stem: str, exercise_of: Callable[[str], CodeExercise]
) -> None:
    mutant = _mutant(exercise_of(item), stem)
    assert mutant.feedback or len(mutant.combines) >= 2
    assert mutant.combines or stem == "other_error" or (TWINS / item / f"{stem}.py").exists()


@pytest.mark.parametrize(("item", "stem"), FILES)
def test_mutant_is_killed_by_its_checks_and_named(
    item: str, stem: str, grade: Grade, exercise_of: Callable[[str], CodeExercise]
) -> None:
    mutant = _mutant(exercise_of(item), stem)
    for seed in SEEDS:
        _assert_killed_and_named(grade(item, mutant.source, seed), exercise_of(item), mutant, seed)


@pytest.mark.parametrize(("item", "stem"), TWINNED)
def test_torch_twin_in_another_style_is_killed_and_named(
    item: str, stem: str, grade: Grade, exercise_of: Callable[[str], CodeExercise]
) -> None:
    mutant = _mutant(exercise_of(item), stem)
    source = (TWINS / item / f"{stem}.py").read_text()
    assert "import torch" in source
    for seed in SEEDS:
        _assert_killed_and_named(grade(item, source, seed), exercise_of(item), mutant, seed)


def _assert_killed_and_named(  # type: ignore[no-untyped-def]
    report: GradeReport, exercise: CodeExercise, mutant, seed: int
) -> None:
    failed = {check.id for check in report.checks if check.verdict is Verdict.FAILED}
    assert set(mutant.killed_by) <= failed, (seed, failed, report.notes)
    names = set(mutant.combines or (mutant.id,))
    assert {found.misconception for found in report.diagnosis} == names, (seed, failed)
    by_id = {known.id: known for known in exercise.mutants}
    assert [by_id[found.misconception].feedback for found in report.diagnosis] == [
        found.message for found in report.diagnosis
    ]
    assert report.outcome in (Outcome.PARTIAL, Outcome.WRONG) and report.score is not None
    if failed == {"grad"}:  # costs no points, and no result shows it
        return
    assert report.score < report.max_score
    if failed == {"refuses"}:  # there is no right result to show
        return
    assert report.counterexample is not None


# test_code_degenerate tries NaN, zeros and another number, and for both libraries
NOTHINGS = {"ones": "np.ones_like(part)"}
EMPTIED = """

def emptied(part):
    if isinstance(part, tuple):
        return tuple(emptied(each) for each in part)
    return {emptied}


def {function}(*args):
    return emptied(right(*args))
"""
ARRAYS = [spec.id for spec in BANK.readable()[0] if spec.kind == "code" and "decode" not in spec.id]
ARRAYS = [item for item in ARRAYS if item not in ("beam-search", "causal-mask")]


@pytest.mark.parametrize("kind", NOTHINGS)
@pytest.mark.parametrize("item", ARRAYS)
def test_nothing_is_named_for_a_program_that_computes_nothing(
    item: str, kind: str, grade: Grade, exercise_of: Callable[[str], CodeExercise]
) -> None:
    exercise = exercise_of(item)
    right = exercise.solutions["solution_numpy.py"].replace(f"def {exercise.function}(", "def right(", 1)
    source = right + EMPTIED.format(emptied=NOTHINGS[kind], function=exercise.function)
    report = grade(item, f"import numpy as np\n{source}")
    assert (report.diagnosis, report.score) == ((), 0)


@pytest.mark.parametrize(
    ("item", "broken"),
    [
        # as an overflow gives NaN on large scores, but on small ones too
        ("softmax", "return out if x.ndim == 1 else out * np.nan"),
        ("softmax", "return out * np.nan if float(np.abs(x).max()) > 1 else out"),
        ("softmax-vjp", "return out if out.ndim == 1 else out * 0"),
    ],
)
def test_a_breakdown_alone_is_no_evidence(
    item: str, broken: str, grade: Grade, exercise_of: Callable[[str], CodeExercise]
) -> None:
    exercise = exercise_of(item)
    right = exercise.solutions["solution_numpy.py"].replace(f"def {exercise.function}(", "def right(", 1)
    source = f"import numpy as np\n{right}\n\ndef {exercise.function}(x, *more):\n"
    report = grade(item, f"{source}    out = right(x, *more)\n    {broken}\n")
    assert report.outcome is not Outcome.RIGHT and report.diagnosis == ()


MASKED = """
import numpy as np

def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("sizes")
    S = Q @ np.swapaxes(K, -1, -2) / float(Q.shape[-1]) ** 0.5
    if mask is not None:
        if mask.shape[-2:] != S.shape[-2:]:
            raise ValueError("mask")
        S = {hidden}
    e = np.exp(S - S.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).astype(Q.dtype) @ V
"""


@pytest.mark.parametrize(
    ("hidden", "name"),
    [("S * mask", "m-mask-zero"), ("np.where(mask, S, S.dtype.type(-1e9))", "mask-finite-fill")],
)
def test_a_mistake_that_shows_at_extreme_scores_alone_is_no_second_name(
    hidden: str, name: str, grade: Grade
) -> None:
    """Whatever gives weight to hidden keys gives all of it to them where they are far above the others."""
    report = grade("sdpa", MASKED.format(hidden=hidden))
    assert [found.misconception for found in report.diagnosis] == [name]
