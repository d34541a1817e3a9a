"""The grading rules say what the code does: their numbers are read from the page and compared."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.code import CodeExercise
from engine.code.case import Plan
from engine.code.counterexample import MAX_CALLS
from engine.code.exercise import PREREQUISITES
from engine.code.mutants import LEAST_INPUTS
from engine.code.tolerance import FLOOR, VALUES, relative_tolerance
from engine.model import Verdict

PAGE = " ".join((Path(__file__).parents[3] / "docs" / "grading-rules.md").read_text(encoding="utf-8").split())


def test_sizes_of_the_plans(plan_of: Callable[[str, int], Plan]) -> None:
    calls = {item: len(plan_of(item, 0).cases) for item in ("softmax", "sdpa")}
    assert f"{calls['softmax']} calls for `softmax`, {calls['sdpa']} for `sdpa`" in PAGE


def test_budget_least_inputs_and_prerequisites() -> None:
    assert f"at most {MAX_CALLS} calls" in PAGE
    assert LEAST_INPUTS == 3 and "on three inputs at least" in PAGE
    assert [f"| `{name}` |" in PAGE for name in PREREQUISITES] == [True] * 3
    assert all(str(verdict) in PAGE for verdict in Verdict)


def test_formula_of_the_tolerance() -> None:
    assert "floor + 8 · eps · (n + (1 + d) · S + 8)" in PAGE
    assert "1e-9 in float64, 1e-5 in float32, 2e-2 in float16" in PAGE
    assert FLOOR == {"float64": 1e-9, "float32": 1e-5, "float16": 2e-2}
    n, d, S = 5, 3, 7.0
    for dtype, floor in FLOOR.items():
        formula = floor + 8 * float(np.finfo(dtype).eps) * (n + (1 + d) * S + 8)
        assert relative_tolerance(dtype, keys=n, score=S, terms=d) == pytest.approx(formula, rel=1e-12)
    assert VALUES == 1e-6 and "(1e-6 of the largest value)" in PAGE


@pytest.mark.parametrize(("item", "points"), [("softmax", 10), ("sdpa", 12)])
def test_rubrics(item: str, points: int, exercise_of: Callable[[str], CodeExercise]) -> None:
    exercise = exercise_of(item)
    assert exercise.points == points and f"`{item}` ({points} points)" in PAGE
    text = PAGE[PAGE.index(f"`{item}` ({points} points)") :].split(". ")[0]
    halves = text.rsplit(";", 1)[1] if item == "softmax" else text.rsplit("1;", 1)[1]
    said = [float(n.replace("1½", "1.5")) for n in re.findall(r" (\d½|\d)(?=;|$)", text.replace(halves, ""))]
    half = halves.count(",") + halves.count(" and ") - halves.count("keys and values") + 1
    assert sorted(said) + [0.5] * half == sorted(said) + [
        c.points for c in exercise.checks if c.points == 0.5
    ]
    assert sum(said) + 0.5 * half == points
