"""Properties of softmax weights along an axis: sign, sum, order, ratios, stability, limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Group
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.properties.mixtures import leaves_range
from engine.code.show import described, number, numbers
from engine.code.tolerance import VALUES

__all__ = ["PROPERTIES"]

Floats = NDArray[np.float64]


def _scores(group: Group, seen: Observations) -> Floats:
    """Return the scores behind the weights: given with the group, else the first argument."""
    found = group.data.get("scores", seen.plan.cases[group.members[0]].args[0])
    return np.asarray(found, dtype=np.float64)


def _nonneg(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    weights = seen.values(member)
    if (weights >= 0).all():
        return None
    return f"for {described(seen.plan, member, seen.function)} a weight is {number(_least(weights))}"


def _least(weights: Floats) -> float:
    return float("nan") if np.isnan(weights).any() else float(weights.min())


def _sum1(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    weights, axis = seen.values(member), int(group.data["axis"])
    sums = weights.sum(axis=axis)
    if (np.abs(sums - 1.0) <= seen.expected(member).relative).all():
        return None
    told = numbers(np.unique(sums))
    return f"for {described(seen.plan, member, seen.function)} the weights sum to {told}"


def _order(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    weights, scores, axis = seen.values(member), _scores(group, seen), int(group.data["axis"])
    ranked = np.take_along_axis(weights, np.argsort(scores, axis=axis, kind="stable"), axis)
    steps = np.diff(np.sort(scores, axis=axis), axis=axis)
    if (np.diff(ranked, axis=axis) > 0)[steps > 1e-6].all():
        return None
    return f"for {described(seen.plan, member, seen.function)} a larger score doesn't get a larger weight"


def _logratio(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    weights, scores, axis = seen.values(member), _scores(group, seen), int(group.data["axis"])
    if not (weights > 0).all():
        return f"for {described(seen.plan, member, seen.function)} not every weight is positive"
    got = np.diff(np.log(weights), axis=axis)
    wanted = np.diff(scores, axis=axis)
    wrong = ~(np.abs(got - wanted) <= 100 * seen.expected(member).relative)
    if not wrong.any():
        return None
    place = tuple(np.argwhere(wrong)[0])
    return (
        f"for {described(seen.plan, member, seen.function)} two scores differ by {number(wanted[place])}, "
        f"the logarithms of their weights by {number(got[place])}"
    )


def _settled(group: Group, seen: Observations) -> str | None:
    """Large scores: finite, and weights that sum to 1 (or, without an axis, a mixture of the values)."""
    (member,) = group.members
    values = seen.values(member)
    if not np.isfinite(values).all():
        bad = values[~np.isfinite(values)].flat[0]
        return f"{described(seen.plan, member, seen.function)} gave {number(bad)}"
    if "axis" not in group.data:
        if not leaves_range(group, seen):
            return None
        return f"{described(seen.plan, member, seen.function)} left the range of the values"
    sums = values.sum(axis=int(group.data["axis"]))
    if (np.abs(sums - 1.0) <= max(seen.expected(member).relative, VALUES)).all():
        return None
    told = numbers(np.unique(sums))
    return f"for {described(seen.plan, member, seen.function)} the weights sum to {told}"


def _hot(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    weights = seen.values(member)
    uniform = 1.0 / weights.shape[-1]
    if (np.abs(weights - uniform) <= group.data["spread"]).all():
        return None
    return f"the weights are {numbers(weights[..., :].reshape(-1)[:4])} instead of all near {number(uniform)}"


PROPERTIES = (
    Property("nonneg", "no negative weights", "No weight may be negative.", _nonneg),
    Property("sum1", "weights sum to 1", "The weights along the axis must sum to 1.", _sum1),
    Property("order", "larger scores get larger weights", "A larger score must get a larger weight.", _order),
    Property(
        "logratio",
        "ratios of the weights",
        "The logarithms of two weights must differ by as much as their scores do.",
        _logratio,
    ),
    Property(
        "stable", "large scores", "Large scores, up to 10,000 and more, must give finite results.", _settled
    ),
    Property(
        "rows-apart",
        "rows of very different size",
        "Rows near +10,000 and rows near -10,000 in one array must both give weights that sum to 1.",
        _settled,
    ),
    Property(
        "hot",
        "almost equal scores",
        "Scores that are almost equal must give weights that are almost equal.",
        _hot,
    ),
)
