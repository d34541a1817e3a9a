"""The grading rules say what the code does: their numbers are read from the page and compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.code.explain.counterexample import MAX_CALLS
from engine.code.explain.mutants import LEAST_INPUTS
from engine.code.plan import FLOOR, VALUES_TOLERANCE, relative_tolerance, widen_tolerance
from engine.items.checks.code import PREREQUISITES
from engine.model import Verdict

PAGE = " ".join((Path(__file__).parents[3] / "docs" / "grading-rules.md").read_text(encoding="utf-8").split())


def test_budget_least_inputs_and_prerequisites() -> None:
    assert f"at most {MAX_CALLS} calls" in PAGE
    assert LEAST_INPUTS == 3 and "on three inputs at least" in PAGE
    assert [f"| `{name}` |" in PAGE for name in PREREQUISITES] == [True] * len(PREREQUISITES)
    assert all(str(verdict) in PAGE for verdict in Verdict)


def test_formula_of_the_tolerance() -> None:
    assert "floor + 8 · eps · (n + (1 + d) · S + 8)" in PAGE
    assert "1e-9 in float64, 1e-5 in float32, 1e-2 in float16, 5e-2 in bfloat16" in PAGE
    assert FLOOR == {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}
    assert "before eps is 2 (float16) or 1 (bfloat16)" in PAGE
    factors = {"float64": 8, "float32": 8, "float16": 2, "bfloat16": 1}
    n, d, S = 5, 3, 7.0
    for dtype, floor in FLOOR.items():
        eps = 2.0**-7 if dtype == "bfloat16" else float(np.finfo(dtype).eps)
        formula = floor + factors[dtype] * eps * (n + (1 + d) * S + 8)
        assert relative_tolerance(dtype, keys=n, score=S, terms=d) == pytest.approx(formula, rel=1e-12)
        single = relative_tolerance("float32", keys=n, score=S, terms=d)
        assert widen_tolerance(single, dtype) == pytest.approx(formula, rel=1e-6)
    assert VALUES_TOLERANCE == 1e-6 and "(1e-6 of the largest value)" in PAGE
