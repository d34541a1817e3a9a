"""Exercises with axes that are products, with inputs of the author's that are refused, and with tuples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.code.planned_exercise import AuthorError
from engine.exercises import Exercise, RelationCall, array, permutation_invariant, relation

HEADS = {"Q": array("g*r d"), "K": array("g d")}


def _heads(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    return np.asarray(Q * np.repeat(K, len(Q) // len(K), axis=0))


def _exercise(**more: Any) -> Exercise:
    exercise = Exercise(HEADS, reference=_heads, **more)
    exercise.name = "heads"
    return exercise


def test_the_last_factor_of_a_product_follows_from_the_size_of_the_axis() -> None:
    exercise = _exercise()
    plan = exercise.plan(b"seed")
    shapes = [[np.shape(array) for array in case.args] for case in plan.cases if case.kind == "ordinary"]
    assert all(heads % groups == 0 for (heads, _), (groups, _) in shapes)
    assert len({heads // groups for (heads, _), (groups, _) in shapes}) > 1
    assert exercise.is_valid_input((np.ones((6, 2)), np.ones((3, 2))))
    assert not exercise.is_valid_input((np.ones((7, 2)), np.ones((3, 2))))


def test_inputs_that_the_author_names_are_refused_beside_sizes_that_do_not_fit() -> None:
    plan = _exercise(refuses={"no-multiple": lambda call: {"Q": call["Q"][1:]}}).plan(b"seed")
    refused = {case.id: case for case in plan.cases if case.kind == "refused"}
    heads, groups = (len(np.asarray(array)) for array in refused["no-multiple"].args)
    assert heads % groups and refused["no-multiple"].expected is None
    assert len(refused) > 1
    assert set(refused) == {case.id for case in plan.cases if case.expected is None}
    plain = _exercise(refuses=True).plan(b"seed")
    assert {case.id for case in plain.cases if case.kind == "refused"} == set(refused) - {"no-multiple"}
    assert not any(case.kind == "refused" for case in _exercise().plan(b"seed").cases)


@relation("The results must be those of the definition.")
def _defined(call: RelationCall) -> bool:
    return call.close(call.result, (call.x.max(axis=1), call.x.sum(axis=1)))


@relation("This isn't so.")
def _wrong(call: RelationCall) -> bool:
    return call.close(call.result, (call.x.max(axis=1), call.x.sum(axis=1) + 1))


def _parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x.max(axis=1), x.sum(axis=1)


def test_results_that_are_tuples_are_compared_part_by_part() -> None:
    ready = permutation_invariant({"x": 1})
    exercise = Exercise(
        {"x": array("n d")},
        reference=_parts,
        returns=("top", "total"),
        relations=[_defined, ready],
        gradients=False,
    )
    exercise.name = "parts"
    assert {"defined", "permutation-invariant"} <= set(exercise.plan(b"seed").groups)
    broken = Exercise(
        {"x": array("n d")}, reference=_parts, returns=("top", "total"), relations=[_wrong], gradients=False
    )
    broken.name = "parts"
    with pytest.raises(AuthorError, match="breaks the relation 'wrong'"):
        broken.plan(b"seed")
