"""Exercises as the bank has them, plans, and a way to grade a source with the trusted runner."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from engine.code import CodeExercise, freeze_plan, load_exercise
from engine.code.explain import counterexample
from engine.code.explain.in_process import TrustedRunner
from engine.code.plan import InputPlan
from engine.grading import grade_code
from engine.items import load_spec
from engine.model import CodeSubmission, GradeReport, Mode

CODE = Path(__file__).parents[3] / "problems" / "code"


@cache
def _exercise(item: str) -> CodeExercise:
    path = CODE / item / f"{item}.yaml"
    return load_exercise(load_spec(path), path.parent, "version")


@cache
def _plan(item: str, seed: int) -> InputPlan:
    return freeze_plan(_exercise(item), seed.to_bytes(4, "big"))


def _submission(source: str) -> CodeSubmission:
    return CodeSubmission(source, "handed_in.py", hashlib.sha256(source.encode()).hexdigest())


def _grade(item: str, source: str, seed: int = 0) -> GradeReport:
    exercise, plan = _exercise(item), _plan(item, seed)
    with TrustedRunner() as runner:
        return grade_code(exercise, plan, _submission(source), runner, mode=Mode.PRACTICE, student="s01")


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test gets a counterexample that another one found."""
    monkeypatch.setattr(counterexample, "_cached", counterexample.LruCache(8))


@pytest.fixture(scope="session")
def exercise_of() -> Callable[[str], CodeExercise]:
    return _exercise


@pytest.fixture(scope="session")
def plan_of() -> Callable[[str, int], InputPlan]:
    return _plan


@pytest.fixture(scope="session")
def submission_of() -> Callable[[str], CodeSubmission]:
    return _submission


@pytest.fixture(scope="session")
def grade() -> Callable[..., GradeReport]:
    return _grade
