"""Relations that many functions of arrays have, ready to be named; `axis` counts as numpy counts axes.

Each is a function that returns a :class:`~engine.exercises.relations.Relation`::

    relations = [sums_to_one(), permutation_equivariant("x", axis=0)]
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.exercises.relations import Relation, RelationCall, relation


def sums_to_one(axis: int = -1) -> Relation:
    """Return the relation that the result sums to 1 along an axis."""

    @relation("The result must sum to 1 along its axis.", title="sums of 1", name="sums-to-one")
    def holds(call: RelationCall) -> bool:
        return call.close(np.sum(call.result, axis=axis), 1.0, factor=4)

    return holds


def not_negative() -> Relation:
    """Return the relation that no entry of the result is negative."""

    @relation("No entry of the result may be negative.", name="not-negative")
    def holds(call: RelationCall) -> bool:
        return bool(np.all(np.asarray(call.result) >= 0))

    return holds


def in_range_of(argument: str, axis: int = -2) -> Relation:
    """Return the relation that the result lies between an argument's extreme entries along an axis."""

    @relation(f"The result must stay within the range of {argument}.", name="in-range")
    def holds(call: RelationCall) -> bool:
        entries, slack = np.asarray(call.arguments[argument]), call.slack
        low, high = entries.min(axis=axis, keepdims=True), entries.max(axis=axis, keepdims=True)
        return bool(np.all((call.result >= low - slack) & (call.result <= high + slack)))

    return holds


def shift_invariant(argument: str, by: float = 8.0) -> Relation:
    """Return the relation that one number added to an argument changes nothing; `by` is exact in binary."""

    @relation(f"Adding one number to all of {argument} must not change the result.", name="shift-invariant")
    def holds(call: RelationCall) -> bool:
        return call.close(call.again(**{argument: call.arguments[argument] + by}), call.result)

    return holds


def scale_invariant(argument: str, by: float = 2.0) -> Relation:
    """Return the relation that an argument times a positive number gives the same result."""

    @relation(
        f"Multiplying all of {argument} by one number must not change the result.", name="scale-invariant"
    )
    def holds(call: RelationCall) -> bool:
        return call.close(call.again(**{argument: call.arguments[argument] * by}), call.result)

    return holds


def permutation_equivariant(argument: str, axis: int = 0, result_axis: int | None = None) -> Relation:
    """Return the relation that reordering an argument along an axis reorders the result in the same way."""

    @relation(
        f"Reordering {argument} must reorder the result in the same way.", name="permutation-equivariant"
    )
    def holds(call: RelationCall) -> bool:
        moved = np.roll(call.arguments[argument], 1, axis=axis)
        due = np.roll(call.result, 1, axis=axis if result_axis is None else result_axis)
        return call.close(call.again(**{argument: moved}), due)

    return holds


def permutation_invariant(axes: Mapping[str, int]) -> Relation:
    """Return the relation that reordering these arguments together, each along its axis, changes nothing."""
    together = " and ".join(axes)

    @relation(f"Reordering {together} together must not change the result.", name="permutation-invariant")
    def holds(call: RelationCall) -> bool:
        moved = {name: np.roll(call.arguments[name], 1, axis=axis) for name, axis in axes.items()}
        return call.close(call.again(**moved), call.result)

    return holds


def causal(argument: str, axis: int = -2) -> Relation:
    """Return the relation that the last position of an argument changes no earlier position of the result."""

    @relation(f"A later position of {argument} must not change an earlier one of the result.", name="causal")
    def holds(call: RelationCall) -> bool:
        later = np.moveaxis(call.arguments[argument].copy(), axis, 0)
        later[-1] = 1.0 - later[-1]
        other = np.moveaxis(call.again(**{argument: np.moveaxis(later, 0, axis)}), axis, 0)
        return call.close(other[:-1], np.moveaxis(call.result, axis, 0)[:-1])

    return holds


def linear_in(argument: str) -> Relation:
    """Return the relation that the result is linear in an argument."""

    @relation(f"The result must be linear in {argument}.", name="linear")
    def holds(call: RelationCall) -> bool:
        value = call.arguments[argument]
        other = np.roll(value, 1, axis=-1) - 0.5
        mixed = call.again(**{argument: 2 * value + other})
        return call.close(mixed, 2 * call.result + call.again(**{argument: other}), factor=4)

    return holds


def rows_independent(argument: str, axis: int = 0, result_axis: int | None = None) -> Relation:
    """Return the relation that a row of an argument changes that row of the result and no other."""

    @relation(f"A row of {argument} must not change another row of the result.", name="rows-independent")
    def holds(call: RelationCall) -> bool:
        changed = np.moveaxis(call.arguments[argument].copy(), axis, 0)
        changed[0] = changed[0] * 2 + 1
        place = axis if result_axis is None else result_axis
        other = np.moveaxis(call.again(**{argument: np.moveaxis(changed, 0, axis)}), place, 0)
        return call.close(other[1:], np.moveaxis(call.result, place, 0)[1:])

    return holds


def increasing_in(argument: str) -> Relation:
    """Return the relation that along the last axis larger entries of an argument give larger results."""

    @relation(f"A larger entry of {argument} must give a larger result.", name="increasing")
    def holds(call: RelationCall) -> bool:
        order = np.argsort(call.arguments[argument], axis=-1, kind="stable")
        rising = np.take_along_axis(np.asarray(call.arguments[argument]), order, -1)
        ranked = np.take_along_axis(np.asarray(call.result), order, -1)
        return bool(np.all((np.diff(ranked, axis=-1) > -call.slack) | (np.diff(rising, axis=-1) <= 0)))

    return holds


def keeps_norm(argument: str, axis: int = -1) -> Relation:
    """Return the relation that the result is as long as an argument along an axis (Euclidean norm)."""

    @relation(f"The result must be as long as {argument} (Euclidean norm).", name="keeps-norm")
    def holds(call: RelationCall) -> bool:
        due = np.linalg.norm(call.arguments[argument], axis=axis)
        return call.close(np.linalg.norm(call.result, axis=axis), due, factor=4)

    return holds
