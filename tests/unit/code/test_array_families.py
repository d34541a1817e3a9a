"""Families of array exercises against independent oracles: expected values, slopes, what is sound."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from engine.code.arguments import Argument, key_of
from engine.code.plan import InputPlan, PlanCase
from tests.builtin_bank import inputs_of
from tests.oracles import code_exercises as oracle
from tests.oracles.differences import gradient

pytestmark = pytest.mark.slow

Plans = Callable[[str, int], InputPlan]
Args = tuple[Argument, ...]


@dataclass(frozen=True)
class Subject:
    """One family: its exercise, its oracle, and how many cases of a plan have gradients."""

    item: str
    oracle: Callable[..., Any]
    gradients: int = 0


def _rowwise_vjp(w: Any, g: Any) -> Any:
    if w and isinstance(w[0], list):
        return [_rowwise_vjp(*pair) for pair in zip(w, g, strict=True)]
    return oracle.softmax_vjp(w, g) if w else []


SUBJECTS = {
    "hard-alignment": Subject("hard-alignment", oracle.hard_alignment),
    "sdpa-grad": Subject("sdpa-grad", oracle.sdpa_grad),
    "causal-mask": Subject("causal-mask", oracle.causal_mask),
    "multi-head": Subject("multi-head", oracle.multi_head, gradients=3),
    "rnn-forward": Subject("rnn-forward", oracle.rnn_forward, gradients=3),
    "self-attention": Subject("self-attention", oracle.self_attention, gradients=3),
    "softmax-vjp": Subject("softmax-vjp", _rowwise_vjp),
}
EVERY = pytest.mark.parametrize("name", sorted(SUBJECTS))
ARRAYS = pytest.mark.parametrize("name", sorted(set(SUBJECTS) - {"causal-mask"}))


def _plan(name: str, plan_of: Plans, seed: int) -> InputPlan:
    return plan_of(SUBJECTS[name].item, seed)


def _right(name: str, args: Args) -> tuple[np.ndarray, ...]:
    """Return what the oracle gives, one array a part."""
    lists = [value.astype(float).tolist() if isinstance(value, np.ndarray) else value for value in args]
    found = SUBJECTS[name].oracle(*lists)
    return tuple(np.array(part, float) for part in (found if isinstance(found, tuple) else (found,)))


def _with(args: Args, place: int, value: Argument) -> Args:
    return (*args[:place], value, *args[place + 1 :])


def _first(name: str, plan_of: Plans) -> Args:
    """Return arguments whose arrays have two entries at least along every axis."""
    return next(case.args for case in _plan(name, plan_of, 0).cases if case.kind == "ordinary")


def _keys(cases: list[PlanCase]) -> set[Any]:
    return {key_of(case.args) for case in cases}


@pytest.mark.parametrize("seed", range(3))
@EVERY
def test_expected_values_are_those_of_the_oracle(name: str, seed: int, plan_of: Plans) -> None:
    cases = [case for case in _plan(name, plan_of, seed).cases if case.expected is not None]
    for case in cases:
        assert case.expected is not None
        for part, right in zip(case.expected.parts, _right(name, case.args), strict=True):
            assert part.values.shape == right.shape or part.values.size == right.size == 0
            # far tighter than the slack where that belongs to float32: the truth is float64 everywhere
            room = min(part.slack, 1e-8 * np.abs(right).max(initial=1.0))
            assert (np.abs(part.values - right.reshape(part.values.shape)) <= room).all(), case.id


@pytest.mark.parametrize("name", [name for name in sorted(SUBJECTS) if SUBJECTS[name].gradients])
def test_gradients_are_those_of_central_differences(name: str, plan_of: Plans) -> None:
    cases = [case for case in _plan(name, plan_of, 1).cases if case.cotangents is not None]
    assert len(cases) == SUBJECTS[name].gradients
    for case in cases:
        assert case.cotangents is not None and case.expected is not None and case.expected.gradients
        places = [place for place, value in enumerate(case.args) if isinstance(value, np.ndarray)]
        for place, got in zip(places, case.expected.gradients, strict=True):
            slope = gradient(_pulled(name, case, place), np.asarray(case.args[place]))
            np.testing.assert_allclose(got.values, slope, rtol=1e-6, atol=1e-6)


def _pulled(name: str, case: PlanCase, place: int) -> Callable[[np.ndarray], float]:
    """Return the sum of result times cotangent as a function of one argument."""
    assert case.cotangents is not None
    (cotangent,) = case.cotangents
    return lambda moved: float((_right(name, _with(case.args, place, moved))[0] * cotangent).sum())


def _attended(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights @ V / weights.sum(axis=1, keepdims=True))


def test_gradients_of_attention_are_slopes_of_its_output(plan_of: Plans) -> None:
    cases = [case for case in plan_of("sdpa-grad", 1).cases if re.fullmatch(r"input-\d", case.id)]
    assert len(cases) == 5
    for case in cases:
        Q, K, V, G = (np.asarray(value) for value in case.args)
        assert case.expected is not None
        inputs = (Q, K, V)

        def pulled(moved: np.ndarray, place: int, inputs: Any = inputs, G: np.ndarray = G) -> float:
            given = [moved if at == place else array for at, array in enumerate(inputs)]
            return float((_attended(*given) * G).sum())

        slopes = [gradient(partial(pulled, place=place), array) for place, array in enumerate(inputs)]
        for part, slope in zip(case.expected.parts, slopes, strict=True):
            np.testing.assert_allclose(part.values, slope, rtol=1e-6, atol=1e-7)


def test_products_with_the_jacobian_are_slopes_of_the_softmax() -> None:
    w, g = np.array([0.5, 0.125, 0.375]), np.array([2.0, -1.0, 4.0])

    def pulled(scores: np.ndarray) -> float:
        return float((np.exp(scores) / np.exp(scores).sum() * g).sum())

    (part,) = inputs_of("softmax-vjp").expected((w, g)).parts
    np.testing.assert_allclose(part.values, gradient(pulled, np.log(w)), atol=1e-9)


@EVERY
def test_candidates_are_sound_and_the_same_every_time(name: str) -> None:
    own = inputs_of(name)
    candidates = own.candidates()
    assert [key_of(args) for args in candidates] == [key_of(args) for args in own.candidates()]
    assert sum(np.asarray(value).size for value in candidates[0]) <= 6
    for args in candidates:
        assert own.is_valid_input(args)
        assert [len(axes) for axes in own.axes(args)] == [np.asarray(value).ndim for value in args]
        for part, right in zip(own.expected(args).parts, _right(name, args), strict=True):
            np.testing.assert_allclose(part.values, right, atol=part.slack)


@ARRAYS
def test_no_candidate_tells_what_a_hidden_case_is(name: str, plan_of: Plans) -> None:
    candidates = {key_of(args) for args in inputs_of(name).candidates()}
    for seed in range(3):
        cases = _plan(name, plan_of, seed).cases
        public = _keys([case for case in cases if case.public])
        assert not candidates & (_keys([case for case in cases if not case.public]) - public)


@EVERY
def test_public_cases_are_the_same_in_every_plan(name: str, plan_of: Plans) -> None:
    one, other = (
        [(case.id, key_of(case.args)) for case in _plan(name, plan_of, seed).cases if case.public]
        for seed in (0, 1)
    )
    assert one == other and len(one) > 2


@EVERY
def test_what_has_an_expected_value_is_sound_and_what_must_be_refused_is_not(
    name: str, plan_of: Plans
) -> None:
    for case in _plan(name, plan_of, 2).cases:
        if case.kind != "empty":
            assert inputs_of(name).is_valid_input(case.args) == (case.expected is not None), case.id


@EVERY
def test_a_wrong_number_of_arguments_is_not_sound(name: str, plan_of: Plans) -> None:
    args = _first(name, plan_of)
    assert inputs_of(name).is_valid_input(args)
    assert not inputs_of(name).is_valid_input(())
    assert not inputs_of(name).is_valid_input((*args, *args))
    whole = args[:4] if name == "self-attention" else args  # causal may be left out
    assert not inputs_of(name).is_valid_input(whole[:-1])


@ARRAYS
def test_empty_arrays_other_axes_and_mixed_dtypes_are_not_sound(name: str, plan_of: Plans) -> None:
    args = _first(name, plan_of)
    arrays = [place for place, value in enumerate(args) if isinstance(value, np.ndarray)]
    for place in arrays:
        array = np.asarray(args[place])
        assert not inputs_of(name).is_valid_input(_with(args, place, array[:0]))
        assert not inputs_of(name).is_valid_input(_with(args, place, array[..., :0]))
        assert not inputs_of(name).is_valid_input(_with(args, place, array[np.newaxis]))
        assert not inputs_of(name).is_valid_input(_with(args, place, array[0]))
        assert not inputs_of(name).is_valid_input(_with(args, place, 1.0))
        if len(arrays) > 1:
            assert not inputs_of(name).is_valid_input(_with(args, place, array.astype(np.float32)))


@ARRAYS
def test_axes_that_must_agree_are_not_sound_if_one_is_longer(name: str, plan_of: Plans) -> None:
    args = _first(name, plan_of)
    axes = inputs_of(name).axes(args)
    uses = Counter(letter for names in axes for letter in names)
    tried = 0
    for place, names in enumerate(axes):
        for axis, letter in enumerate(names):
            if uses[letter] > 1:
                array = np.asarray(args[place])
                longer = np.concatenate([array, np.take(array, [0], axis=axis)], axis=axis)
                assert not inputs_of(name).is_valid_input(_with(args, place, longer)), (place, axis)
                tried += 1
    assert tried == sum(count for count in uses.values() if count > 1)


@pytest.mark.parametrize("rows", [[[0.5, 0.25]], [[1.5, -0.5]], [[0.5, 0.5], [0.75, 0.5]]])
def test_weights_that_are_none_are_not_sound(rows: list[list[float]]) -> None:
    weights = np.array(rows)
    assert not inputs_of("hard-alignment").is_valid_input((weights,))
    assert not inputs_of("softmax-vjp").is_valid_input((weights, np.ones_like(weights)))


def test_rows_that_see_nothing_are_sound_for_the_product_alone() -> None:
    weights = np.array([[0.0, 0.0], [0.5, 0.5]])
    assert inputs_of("softmax-vjp").is_valid_input((weights, np.ones((2, 2))))
    assert not inputs_of("hard-alignment").is_valid_input((weights,))


@pytest.mark.parametrize(
    ("h", "sound"), [(1, True), (2, True), (4, True), (3, False), (0, False), (-2, False)]
)
def test_heads_must_divide_the_columns(h: int, sound: bool) -> None:
    X, W = np.ones((2, 3)), np.ones((3, 4))
    assert inputs_of("multi-head").is_valid_input((X, W, W, W, W.T, h)) == sound
    assert not inputs_of("multi-head").is_valid_input((X, W, W, W, W.T, float(h)))


@pytest.mark.parametrize(
    ("n", "sound"), [(0, True), (99, True), (100, False), (-1, False), (True, False), (2.0, False)]
)
def test_sizes_of_a_causal_mask(n: Argument, sound: bool) -> None:
    assert inputs_of("causal-mask").is_valid_input((n,)) == sound
