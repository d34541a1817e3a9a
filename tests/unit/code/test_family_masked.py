"""masked_softmax: expected values against a loop, gradients against differences, mistakes and pairs named."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.code import CodeExercise
from engine.code.plan import InputPlan
from engine.model import GradeReport, Outcome, Verdict
from tests.builtin_bank import inputs_of

pytestmark = pytest.mark.slow

Plans = Callable[[str, int], InputPlan]
Grade = Callable[..., GradeReport]
ITEM = "masked-softmax"
RIGHT = Path(__file__).parent / "right" / ITEM


def _one_row(scores: list[float], seen: list[bool]) -> list[float]:
    shown = [score for score, visible in zip(scores, seen, strict=True) if visible]
    if not shown:
        return [0.0] * len(scores)
    e = [math.exp(s - max(shown)) if v else 0.0 for s, v in zip(scores, seen, strict=True)]
    return [value / math.fsum(e) for value in e]


def test_expected_values_equal_a_loop(plan_of: Plans) -> None:
    for seed in range(5):
        compared = 0
        for case in plan_of(ITEM, seed).cases:
            scores, mask = (np.asarray(value) for value in case.args)  # type: ignore[arg-type]
            if case.expected is None:
                with pytest.raises(ValueError):
                    np.broadcast_to(mask, scores.shape)
                continue
            seen = np.broadcast_to(mask, scores.shape)
            for place in np.ndindex(scores.shape[:-1]):
                right = _one_row(scores[place].astype(float).tolist(), seen[place].tolist())
                np.testing.assert_allclose(case.expected.values[place], right, rtol=1e-12, atol=1e-300)
                compared += 1
        assert compared > 100


@pytest.mark.parametrize(("item", "floating"), [(ITEM, 1), ("softmax", 1), ("sdpa", 3)])
def test_gradients_equal_central_differences(item: str, floating: int, plan_of: Plans) -> None:
    plan = plan_of(item, 1)
    cases = [case for case in plan.cases if case.kind == "gradient"]
    assert len(cases) == 3
    expected = inputs_of(plan.exercise).expected
    step = 1e-6
    for case in cases:
        assert case.cotangents is not None and case.expected is not None
        gradients = case.expected.gradients
        assert gradients is not None and len(gradients) == floating
        for which in range(floating):
            array = np.asarray(case.args[which])
            for place in np.ndindex(array.shape):
                ends = []
                for sign in (1.0, -1.0):
                    moved = array.copy()
                    moved[place] += sign * step
                    args = (*case.args[:which], moved, *case.args[which + 1 :])
                    ends.append(float((expected(args).values * case.cotangents[0]).sum()))
                slope = (ends[0] - ends[1]) / (2 * step)
                assert gradients[which].values[place] == pytest.approx(slope, rel=1e-6, abs=1e-7)


def test_both_half_precisions_and_both_layouts_are_tried(plan_of: Plans) -> None:
    for item in (ITEM, "softmax", "sdpa"):
        cases = plan_of(item, 0).cases
        halves = [case for case in cases if case.kind == "half"]
        assert sum(case.narrow == "bfloat16" for case in halves) == 2
        assert sum(case.expected is not None and case.expected.dtype == "float16" for case in halves) == 3
        assert {case.layout for case in cases} == {"plain", "strided", "read-only"}
        for case in halves:  # what the narrowest dtype can't hold would be rounded before the call
            for value in case.args:
                if isinstance(value, np.ndarray) and value.dtype != np.bool_:
                    assert np.array_equal(value * 8, np.trunc(value * 8)) and np.abs(value).max() <= 16


def test_every_mistake_and_every_pair_is_killed_and_named(
    grade: Grade, exercise_of: Callable[[str], CodeExercise]
) -> None:
    exercise = exercise_of(ITEM)
    assert sum(len(mutant.combines) == 2 for mutant in exercise.mutants) >= 8
    for mutant in exercise.mutants:
        report = grade(ITEM, mutant.source, 2)
        failed = {check.id for check in report.checks if check.verdict is Verdict.FAILED}
        assert set(mutant.killed_by) <= failed, (mutant.id, failed)
        named = {found.misconception for found in report.diagnosis}
        assert named == set(mutant.combines or (mutant.id,)), mutant.id
        assert report.outcome in (Outcome.PARTIAL, Outcome.WRONG)


def test_a_mask_is_never_left_out_of_a_counterexample(
    grade: Grade, exercise_of: Callable[[str], CodeExercise]
) -> None:
    for mutant in exercise_of(ITEM).mutants:
        found = grade(ITEM, mutant.source, 0).counterexample
        if mutant.id not in ("detached", "other-error"):  # gradients, and which error is raised
            assert found is not None and "mask" in found.code, mutant.id


def test_what_is_sound() -> None:
    is_valid = inputs_of("masked-softmax").is_valid_input
    scores = np.zeros((2, 3))
    for shape, right in (((2, 3), True), ((3,), True), ((1, 3), True), ((2, 1), False), ((3, 2), False)):
        assert is_valid((scores, np.ones(shape, dtype=bool))) is right
    assert not is_valid((scores,)) and not is_valid((np.zeros(3), np.ones((2, 3), dtype=bool)))


def test_gradient_of_right_code_with_a_hidden_entry_passes_and_of_a_cut_total_fails(grade: Grade) -> None:
    whole = """
import torch
def masked_softmax(scores, mask):
    e = torch.where(mask, scores, -torch.inf)
    top = torch.where(mask, scores, -1e30 if scores.dtype != torch.float16 else -6e4).amax(-1, keepdim=True)
    e = torch.where(mask, e - top{}, -torch.inf).exp()
    total = e.sum(-1, keepdim=True){}
    mask.expand(scores.shape)
    return e / torch.where(total == 0, 1.0, total).to(e.dtype)
"""
    assert grade(ITEM, whole.format("", "")).outcome is Outcome.RIGHT
    assert grade(ITEM, whole.format(".detach()", "")).outcome is Outcome.RIGHT
    report = grade(ITEM, whole.format("", ".detach()"))
    assert {check.id for check in report.checks if check.verdict is Verdict.FAILED} == {"grad"}
    assert [found.misconception for found in report.diagnosis] == ["detached"]


def test_a_hidden_score_that_takes_the_digits_of_the_others_is_found_on_every_plan(grade: Grade) -> None:
    right = (RIGHT / "multiplied.py").read_text(encoding="utf-8")
    assert "lowest * (1 - m)" in right  # in hidden places alone
    for seed in range(4):
        report = grade(ITEM, right.replace("lowest * (1 - m)", "lowest * (2 - m)"), seed)
        assert {check.id for check in report.checks if check.verdict is Verdict.FAILED} == {"mask-irrel"}
