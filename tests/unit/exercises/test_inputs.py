"""What is drawn for each kind of argument, and which values fit it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.code.plan_builder import ExactValues
from engine.code.step_table import StepTable
from engine.exercises import (
    Exercise,
    array,
    mask,
    numbers,
    optional,
    positive,
    probabilities,
    record,
    scores,
    size,
    step_function,
    tokens,
    whole,
)
from engine.exercises.input_set import InputSet

SHAPES = st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple)
STREAMS = st.integers(0, 99).map(lambda number: ExactValues(b"%d" % number))
ENTRIES = [numbers(), scores(), positive(), probabilities()]


@given(SHAPES, STREAMS, st.sampled_from(ENTRIES))
def test_entries_are_exact_in_single_precision(
    shape: tuple[int, ...], values: ExactValues, entries: Any
) -> None:
    drawn = entries(values, shape)
    assert drawn.shape == shape
    assert np.array_equal(drawn, drawn.astype(np.float32).astype(np.float64))


@given(SHAPES, STREAMS)
def test_probabilities_sum_to_one_exactly(shape: tuple[int, ...], values: ExactValues) -> None:
    drawn = probabilities()(values, shape)
    assert (drawn > 0).all() and (drawn.sum(axis=-1) == 1).all()
    for row in drawn.reshape(-1, shape[-1]):
        assert len(set(row)) == len(row)


@given(SHAPES, STREAMS)
def test_scores_differ_and_numbers_stay_within_their_bounds(
    shape: tuple[int, ...], values: ExactValues
) -> None:
    drawn = scores(3)(values, shape)
    assert len(np.unique(drawn)) == drawn.size and np.abs(drawn).max() <= 3
    assert np.abs(numbers(3)(values, shape)).max() <= 3
    drawn = positive(3)(values, shape)
    assert drawn.min() > 0 and drawn.max() <= 3
    drawn = whole(2, 5)(values, shape)
    assert drawn.dtype == np.int64 and set(drawn.ravel()) <= {2, 3, 4, 5}


INPUTS: dict[str, Any] = {
    "x": array("... n heads*d"),
    "K": array("... m d", scores()),
    "pad": mask("n m"),
    "p": record(W=array("d m"), b=array("m")),
    "ids": tokens("n", below=5),
    "heads": size("heads"),
    "scale": st.sampled_from([0.5, 2.0]),
    "seen": optional(mask("n n")),
}


def _set() -> InputSet:
    return InputSet(INPUTS, {"heads": st.integers(2, 3)}, None)


@settings(suppress_health_check=[HealthCheck.nested_given])
@given(st.integers(0, 99))
def test_all_arguments_fit_each_other(seed: int) -> None:
    inputs = _set()
    (spec,) = inputs.specs(1, bytes([seed]))
    args = inputs.arguments(spec, ExactValues(bytes([seed])), (2,))
    sizes = dict(spec[0])
    x, K, pad, p, ids, heads, scale, _ = args
    n, m, d = sizes["n"], sizes["m"], sizes["d"]
    assert len({n, m, d}) == 3, "unequal sizes show a transposed matrix"
    assert isinstance(x, np.ndarray) and x.shape == (2, n, heads * d)
    assert isinstance(K, np.ndarray) and K.shape == (2, m, d)
    assert (
        isinstance(pad, np.ndarray)
        and pad.dtype == bool
        and pad.any(axis=-1).all()
        and not pad.all(axis=-1).any()
    )
    assert isinstance(p, Mapping) and p["W"].shape == (d, m) and p["b"].shape == (m,)
    assert isinstance(ids, tuple) and len(ids) == n and all(0 <= token < 5 for token in ids)
    assert heads in (2, 3) and scale in (0.5, 2.0)
    assert inputs.fault(args) is None
    assert inputs.fault(inputs.without_optional(args)) is None
    assert inputs.fault(args[: inputs.fewest]) is None


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("x", lambda x: x[..., 1:], "x: the axis heads*d has the size"),
        ("x", lambda x: x[..., :0], "x: the axis heads*d has the size 0"),
        ("x", lambda x: x[0], "the leading axes differ"),
        ("x", lambda x: x.astype(np.float32), "different floating dtypes"),
        ("x", lambda x: x.astype(np.int64), "x: an array of float64 was expected, not of int64"),
        ("x", lambda x: 3.0, "x: this isn't an array"),
        ("K", lambda K: K[..., 1:], "the axis"),
        ("pad", lambda pad: pad[1:], "pad: the axis n has the size"),
        ("pad", lambda pad: pad[0], "pad: an array with the axes n m was expected"),
        ("p", lambda p: {"W": p["W"]}, "p: a mapping with the keys W, b was expected"),
        ("p", lambda p: {**p, "b": p["b"][1:]}, "p: b: the axis m has the size"),
        ("ids", lambda ids: ids[1:], "elsewhere"),
        ("ids", lambda ids: (9, *ids[1:]), "ids: token ids lie between 0 and 4"),
        ("ids", lambda ids: 3, "ids: a list of integers was expected"),
        ("heads", lambda heads: heads + 1, "the size"),
        ("heads", lambda heads: True, "heads: a positive integer was expected"),
        ("scale", lambda scale: np.ones(2), "scale: a plain value was expected"),
        ("seen", lambda seen: seen[1:], "seen: the axis n has the size"),
    ],
)
def test_what_does_not_fit_is_named(name: str, change: Any, words: str) -> None:
    inputs = _set()
    (spec,) = inputs.specs(1, b"s")
    args = dict(zip(INPUTS, inputs.arguments(spec, ExactValues(b"s"), (2,)), strict=True))
    fault = inputs.fault(tuple({**args, name: change(args[name])}.values()))
    assert fault is not None and words in fault


def test_sizes_can_follow_from_others() -> None:
    inputs = InputSet(
        {"x": array("n model"), "W": array("model 2")}, {"n": 3, "model": lambda s: 2 * s["n"]}, None
    )
    (spec,) = inputs.specs(1, b"s")
    x, W = inputs.arguments(spec, ExactValues(b"s"))
    assert isinstance(x, np.ndarray) and x.shape == (3, 6)
    assert isinstance(W, np.ndarray) and W.shape == (6, 2)
    assert inputs.fault((x, W)) is None
    assert inputs.fault((x[:2], W)) == "the size n is 2 instead of 3"


def test_a_number_can_be_a_factor_of_a_size() -> None:
    inputs = InputSet({"x": array("n 2*pairs"), "p": array("pairs*3*n")}, {}, None)
    (spec,) = inputs.specs(1, b"s")
    x, p = inputs.arguments(spec, ExactValues(b"s"))
    n, pairs = dict(spec[0])["n"], dict(spec[0])["pairs"]
    assert isinstance(x, np.ndarray) and x.shape == (n, 2 * pairs)
    assert isinstance(p, np.ndarray) and p.shape == (3 * n * pairs,)
    assert inputs.fault((x, p)) is None and inputs.sizes_of((x, p)) == {"n": n, "pairs": pairs}
    odd = inputs.fault((x[:, 1:], p))
    assert odd == f"x: the axis 2*pairs has the size {2 * pairs - 1}, which isn't a multiple of 2"


def _rising(x: Any, k: int) -> bool:
    return bool((np.diff(x, axis=-1) > 0).all()) and k != 2


def test_what_a_condition_excludes_is_drawn_again_in_every_part_of_a_plan() -> None:
    exercise = Exercise(
        {"x": array("... n", scores()), "k": st.integers(1, 4)},
        sizes={"n": st.sampled_from([2, 3])},
        valid=_rising,
        reference=lambda x, k: x * k,
        size_one=["n"],
    )
    for seed in range(10):
        plan = exercise.plan(bytes([seed]))
        assert plan.id == exercise.plan(bytes([seed])).id
        assert {"hidden-2", "batch-1", "one-n", "gradient-2"} <= set(plan.places)
        assert all(_rising(*case.args) for case in plan.cases)
    assert all(_rising(*args) for args in exercise.candidates())


def test_a_condition_that_always_holds_changes_no_draw() -> None:
    plain, checked = (
        Exercise({"x": array("... n d")}, valid=valid, reference=lambda x: x) for valid in (None, np.ndim)
    )
    assert plain.plan(b"seed").id == checked.plan(b"seed").id


def test_a_condition_of_the_author_counts() -> None:
    inputs = InputSet({"k": st.integers(1, 3)}, {}, lambda k: k < 3)
    assert inputs.fault((2,)) is None and inputs.fault((3,)) == "the exercise says that they aren't valid"


def test_a_step_function_is_a_table_of_probabilities() -> None:
    drawn = step_function(vocabulary=3, depth=2).draw(ExactValues(b"s"), {})
    assert isinstance(drawn, StepTable) and drawn.vocabulary == 3
    chances, _ = drawn.step()(0, ())
    assert np.asarray(chances).sum() == 1


@pytest.mark.parametrize("axes", ["n ... d", "n-1", "2n", "n * d"])
def test_an_axis_has_a_name(axes: str) -> None:
    with pytest.raises(ValueError, match="isn't the name of an axis"):
        array(axes)


@settings(suppress_health_check=[HealthCheck.nested_given], max_examples=20)
@given(Exercise({"x": array("n d"), "k": st.integers(1, 2)}, reference=lambda x, k: x * k).strategy())
def test_authors_get_a_strategy_of_their_inputs(call: dict[str, Any]) -> None:
    assert set(call) == {"x", "k"} and call["x"].ndim == 2 and call["k"] in (1, 2)


def test_a_search_asks_the_reference_once_for_an_input() -> None:
    calls: list[Any] = []
    exercise = Exercise({"x": array("n")}, reference=lambda x: calls.append(x) or 2 * x)
    for args in exercise.candidates():
        exercise.expected(args)
    # once in double precision, in single precision twice more to see how far rounding moves the result
    assert len(calls) == 8 and len(exercise.candidates()) == 4
