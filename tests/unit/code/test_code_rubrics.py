"""Groups of checks that count only together, forbidden calls, and grading without explanations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.code import CodeExercise, freeze_plan
from engine.code.explain.in_process import TrustedRunner
from engine.grading import grade_code
from engine.model import CodeSubmission, GradeReport, Mode, Outcome, Verdict

PLAIN = """
import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
"""
LIBRARY = """
import torch

def softmax(x, axis=-1):
    return torch.softmax(x, dim=axis)
"""


@pytest.fixture
def judged(
    exercise_of: Callable[[str], CodeExercise], submission_of: Callable[[str], CodeSubmission]
) -> Callable[..., GradeReport]:
    def graded(source: str, together: tuple[str, ...] = (), **changes: object) -> GradeReport:
        original = exercise_of("softmax")
        checks = tuple(
            replace(check, together="all" if check.id in together else None) for check in original.checks
        )
        exercise = replace(original, checks=checks, **changes)  # type: ignore[arg-type]
        plan = freeze_plan(exercise, b"rubrics")
        explain = bool(changes)
        with TrustedRunner() as runner:
            return grade_code(
                exercise, plan, submission_of(source), runner, mode=Mode.MARKS, student="s", explain=explain
            )

    return graded


def test_a_group_earns_nothing_where_one_of_it_fails(judged: Callable[..., GradeReport]) -> None:
    alone, grouped = judged(PLAIN), judged(PLAIN, ("values", "stable", "dtype"))
    lost = {check.id: check for check in grouped.checks}
    assert lost["stable"].verdict is Verdict.FAILED
    assert lost["values"].verdict is Verdict.PASSED and lost["values"].points == 0.0
    assert "stable" in lost["values"].message
    assert alone.score is not None and grouped.score is not None
    assert alone.score - grouped.score == sum(c.points for c in alone.checks if c.id in ("values", "dtype"))


def test_a_group_that_passes_earns_its_points(judged: Callable[..., GradeReport]) -> None:
    report = judged(PLAIN, ("values", "dtype"))
    assert all(check.points > 0 for check in report.checks if check.id in ("values", "dtype"))


def test_a_forbidden_call_is_told_with_its_line_and_nothing_runs(judged: Callable[..., GradeReport]) -> None:
    report = judged(LIBRARY, forbidden=("torch.softmax",))
    checks = {check.id: check for check in report.checks}
    assert report.outcome is Outcome.WRONG and report.score == 0.0
    assert checks["allowed"].verdict is Verdict.FAILED and "Line 5" in checks["allowed"].message
    assert {c.verdict for name, c in checks.items() if name not in ("loads", "allowed")} == {Verdict.SKIPPED}


def test_the_same_file_is_right_where_nothing_is_forbidden(judged: Callable[..., GradeReport]) -> None:
    assert judged(LIBRARY).outcome is Outcome.RIGHT


def test_without_explanations_the_marks_are_the_same(
    exercise_of: Callable[[str], CodeExercise], submission_of: Callable[[str], CodeSubmission]
) -> None:
    exercise = exercise_of("softmax")
    plan = freeze_plan(exercise, b"rubrics")
    with TrustedRunner() as runner:
        told, blunt = (
            grade_code(
                exercise, plan, submission_of(PLAIN), runner, mode=Mode.MARKS, student="s", explain=explain
            )
            for explain in (True, False)
        )
    assert told.checks == blunt.checks and told.score == blunt.score
    assert told.diagnosis and told.counterexample is not None
    assert blunt.diagnosis == () and blunt.counterexample is None
