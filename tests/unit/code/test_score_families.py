"""The families of context and the three scores: expected values, gradients, soundness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.code.plan import InputPlan
from tests.builtin_bank import inputs_of

pytestmark = pytest.mark.slow

Floats = NDArray[np.float64]


def _context(weights: Floats, H: Floats) -> Floats:
    return np.asarray(np.einsum("...n,nd->...d", weights, H))


def _bilinear(q: Floats, K: Floats, W: Floats) -> Floats:
    return np.array([sum(q[a] * W[a, b] * k[b] for a in range(len(q)) for b in range(len(k))) for k in K])


def _additive(s: Floats, H: Floats, W: Floats, U: Floats, v: Floats) -> Floats:
    return np.array([np.dot(v, np.tanh(W.dot(s) + U.dot(h))) for h in H])


def _concat(q: Floats, K: Floats, W1: Floats, w2: Floats) -> Floats:
    return np.array([np.dot(w2, np.tanh(W1.dot(np.concatenate([q, k])))) for k in K])


ORACLES: dict[str, tuple[str, Callable[..., Floats]]] = {
    "context": ("context", _context),
    "additive-scores": ("additive-scores", _additive),
    "concat-scores": ("concat-scores", _concat),
    "bilinear-scores": ("bilinear-scores", _bilinear),
}
PLANS = sorted(ORACLES)
SQUARE = {
    "context": (3, 3),
    "additive-scores": (2, 2),
    "concat-scores": (2, 4),
    "bilinear-scores": (2, 2),
}  # concat: dq = dk = 2


def _plan(name: str, plan_of: Callable[[str, int], InputPlan], seed: int) -> InputPlan:
    return plan_of(ORACLES[name][0], seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PLANS)
def test_expected_values_are_those_of_loops(
    name: str, seed: int, plan_of: Callable[[str, int], InputPlan]
) -> None:
    cases = [case for case in _plan(name, plan_of, seed).cases if case.expected is not None]
    assert len(cases) > 40
    for case in cases:
        assert case.expected is not None
        args = [np.asarray(value, dtype=np.float64) for value in case.args]
        wanted = ORACLES[name][1](*args)
        assert case.expected.values.shape == wanted.shape
        np.testing.assert_allclose(case.expected.values, wanted, rtol=1e-12, atol=1e-12)


def _differences(function: Callable[..., Floats], args: Sequence[Floats], cotangent: Floats) -> list[Floats]:
    """Return central differences of the sum of result times cotangent, one array an argument."""
    step, found = 1e-6, []
    for place, array in enumerate(args):
        slope = np.zeros(array.shape)
        for index in np.ndindex(array.shape):
            ends = []
            for sign in (1.0, -1.0):
                moved = array.copy()
                moved[index] += sign * step
                ends.append(float((function(*args[:place], moved, *args[place + 1 :]) * cotangent).sum()))
            slope[index] = (ends[0] - ends[1]) / (2 * step)
        found.append(slope)
    return found


@pytest.mark.parametrize("name", PLANS)
def test_gradients_are_those_of_central_differences(
    name: str, plan_of: Callable[[str, int], InputPlan]
) -> None:
    cases = [case for case in _plan(name, plan_of, 1).cases if case.cotangents is not None]
    assert len(cases) >= 3  # as many as it takes to name a mistake
    for case in cases:
        assert case.cotangents is not None and case.expected is not None and case.expected.gradients
        args: list[Any] = list(case.args)
        wanted = _differences(ORACLES[name][1], args, case.cotangents[0])
        for got, slope in zip(case.expected.gradients, wanted, strict=True):
            np.testing.assert_allclose(got.values, slope, atol=1e-6)


@pytest.mark.parametrize("name", PLANS)
def test_candidates_are_sound_and_the_first_ones_are_tiny(name: str) -> None:
    candidates = inputs_of(name).candidates()
    sizes = [sum(np.asarray(value).size for value in args) for args in candidates]
    assert all(inputs_of(name).is_valid_input(args) for args in candidates)
    assert sizes[0] <= 6
    for args in candidates:
        names = inputs_of(name).axes(args)
        assert [len(axes) for axes in names] == [np.asarray(value).ndim for value in args]


@pytest.mark.parametrize("name", PLANS)
def test_inputs_that_must_be_refused_are_not_sound(
    name: str, plan_of: Callable[[str, int], InputPlan]
) -> None:
    refused = [case for case in _plan(name, plan_of, 0).cases if case.kind == "refused"]
    assert len(refused) >= 2
    assert not any(inputs_of(name).is_valid_input(case.args) for case in refused)


@pytest.mark.parametrize("name", PLANS)
def test_empty_arrays_and_mixed_dtypes_are_not_sound(name: str) -> None:
    args = inputs_of(name).candidates()[0]
    first = np.asarray(args[0])
    assert not inputs_of(name).is_valid_input((first[:0], *args[1:]))
    assert not inputs_of(name).is_valid_input((first.astype(np.float32), *args[1:]))
    assert not inputs_of(name).is_valid_input(args[:-1])


@pytest.mark.parametrize("name", PLANS)
def test_hidden_sizes_are_unequal_and_square_inputs_come_first(
    name: str, plan_of: Callable[[str, int], InputPlan]
) -> None:
    cases = _plan(name, plan_of, 2).cases
    shapes = [
        tuple(np.asarray(value).shape for value in case.args) for case in cases if case.kind == "ordinary"
    ]
    assert cases[0].public and SQUARE[name] in shapes[0]
    assert any(all(len(set(shape)) == len(shape) for shape in whole if len(shape) == 2) for whole in shapes)


def test_a_batch_of_size_zero_keeps_its_shape(plan_of: Callable[[str, int], InputPlan]) -> None:
    empty = [case for case in plan_of("context", 0).cases if case.kind == "empty"]
    assert [case.expected.values.size for case in empty if case.expected is not None] == [0, 0]
    assert {np.asarray(case.args[0]).shape[:-1] for case in empty} == {(0,), (2, 0)}


@pytest.mark.parametrize(
    ("item", "source", "check"),
    [
        ("context", "return (weights / weights.sum(-1, keepdims=True)) @ H", "any-sum"),
        ("additive-scores", "return np.tanh(W @ s - H @ U.T) @ v", "opposite"),
        ("additive-scores", "return (np.tanh(W @ s) + np.tanh(H @ U.T)) @ v", "large"),
        ("concat-scores", "return np.tanh(W1[:, :len(q)] @ q) @ w2 + 0 * K[:, 0]", "keys-alone"),
        ("bilinear-scores", "return K @ (W.T @ q) / np.sqrt(q @ q)", "linear-query"),
    ],
)
def test_a_property_by_itself_finds_the_mistake(
    item: str, source: str, check: str, grade: Callable[..., Any], exercise_of: Callable[[str], Any]
) -> None:
    signature = exercise_of(item).signature
    report = grade(item, f"import numpy as np\n\n\ndef {signature}:\n    {source}\n")
    failed = {found.id for found in report.checks if found.verdict.name == "FAILED"}
    assert check in failed and report.score < report.max_score
