"""Results of several parts are read from foreign values, or refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.code.arguments import LeafError, array_of, flat, key_of, leaf_of, rebuilt, wire_argument
from engine.code.result_kinds import ArrayResult, HypothesesResult, MisfitError, TokensResult, TupleResult
from engine.runner import WireArray


def leaf(values: Any, library: str = "numpy") -> WireArray:
    return leaf_of(np.asarray(values), library)


def test_a_tuple_or_a_list_of_arrays_is_read_in_order() -> None:
    for kind in (tuple, list):
        parts = TupleResult(("c", "P")).read(kind([leaf([1.0, 2.0]), leaf(np.float32([3.0]))]), "numpy")
        assert [part.values.tolist() for part in parts] == [[1.0, 2.0], [3.0]]
        assert [part.dtype for part in parts] == ["float64", "float32"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "None (is a return missing?)"),
        ((leaf([1.0]),), "1 value"),
        ((leaf([1.0]), 2.0), "a float as P"),
        ({"c": 1}, "a dict"),
    ],
)
def test_what_is_no_such_tuple_is_told(value: Any, told: str) -> None:
    with pytest.raises(MisfitError) as caught:
        TupleResult(("c", "P")).read(value, "numpy")
    assert str(caught.value) == told


@pytest.mark.parametrize("value", [[3, 1], (3, 1), leaf([3, 1]), [leaf(3), 1], [leaf([3]), leaf(1, "torch")]])
def test_tokens_come_in_many_clothes(value: Any) -> None:
    (part,) = TokensResult().read(value, "numpy")
    assert part.values.tolist() == [3.0, 1.0] and part.dtype == "int"


@pytest.mark.parametrize("value", [None, 3, [1.5], ["1"], leaf([1.5]), [True], [[1]], [2**60], leaf([[1]])])
def test_what_is_no_list_of_tokens_is_refused(value: Any) -> None:
    with pytest.raises(MisfitError):
        TokensResult().read(value, "numpy")


@pytest.mark.parametrize("value", [[3.0, 1], leaf([3.0, 1.0]), [leaf(3.0), 1]])
def test_floats_that_are_ids_are_read_and_told(value: Any) -> None:
    (part,) = TokensResult().read(value, "numpy")
    assert part.values.tolist() == [3.0, 1.0] and part.kind == "a float as a token"


@pytest.mark.parametrize(
    ("value", "library", "kind"),
    [
        ([[1.0, 2], [3.0, 4.0]], "numpy", "a list"),
        ([leaf([1.0, 2.0]), leaf([3.0, 4.0])], "numpy", "a list"),
        (leaf([[1.0, 2.0], [3.0, 4.0]]), "torch", "a numpy array"),
        (leaf([[1.0, 2.0], [3.0, 4.0]]), "numpy", ""),
    ],
)
def test_numbers_in_another_container_are_read_and_told(value: Any, library: str, kind: str) -> None:
    (part,) = ArrayResult().read(value, library, [(2, 2)])
    assert part.values.tolist() == [[1.0, 2.0], [3.0, 4.0]] and part.kind == kind


@pytest.mark.parametrize("value", [[[1.0], [2.0, 3.0]], [], [None], ["1"], (1.0, 2.0), [leaf([1.0]), 1.0]])
def test_a_list_without_the_shape_of_an_array_is_none(value: Any) -> None:
    with pytest.raises(MisfitError):
        ArrayResult().read(value, "numpy", [(2, 2)])


def test_hypotheses_become_a_filled_matrix() -> None:
    ids, logs = HypothesesResult().read([([1, 2], -0.5), ((0,), leaf(-1.0)), ([], leaf([-2.0]))], "numpy")
    assert ids.values.tolist() == [[1, 2], [0, -1], [-1, -1]]
    assert logs.values.tolist() == [-0.5, -1.0, -2.0]
    text = HypothesesResult().text((ids, logs), "numpy")
    assert text == "[([1, 2], -0.5), ([0], -1), ([], -2)]"
    assert HypothesesResult().read([], "numpy")[0].values.shape == (0, 0)


@pytest.mark.parametrize(
    "value", [[[1, 2]], [([1], "x")], [([1], None)], [(1, -0.5)], "ab", [([1], -0.5, 3)]]
)
def test_what_is_no_list_of_hypotheses_is_refused(value: Any) -> None:
    with pytest.raises(MisfitError):
        HypothesesResult().read(value, "numpy")


def test_an_array_that_lies_about_its_size_is_no_array() -> None:
    with pytest.raises(MisfitError, match="no number type"):
        ArrayResult().read(WireArray("numpy", "float64", (5,), b"123"), "numpy")


def test_leaves_of_arguments_go_there_and_back() -> None:
    args = (np.ones(2), {"W": np.zeros((1, 1)), "v": np.ones(1)}, 3, None)
    leaves = flat(args)
    assert len(leaves) == 5
    again = rebuilt(args, leaves)
    assert key_of(again) == key_of(args)
    assert key_of((np.ones(2), 3)) != key_of((np.ones(2), 3.0))


def test_a_narrow_leaf_holds_the_same_numbers() -> None:
    values = np.float32([0.125, -1.5, 0.0])
    narrow = wire_argument(values, "torch", narrow="bfloat16")
    assert narrow.dtype == "bfloat16" and array_of(narrow).tolist() == values.tolist()
    assert wire_argument(values, "numpy", narrow="bfloat16").dtype == "float32"
    with pytest.raises(LeafError):
        leaf_of(np.float32([0.1]), "torch", narrow="bfloat16")
