"""Properties of softmax weights along an axis: sign, sum, order, ratios, stability, limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Group
from engine.code.differing import Evidence, contrast, differs, worst
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.properties.mixtures import leaves_range
from engine.code.show import described, number, number_pair
from engine.code.tolerance import VALUES

__all__ = ["PROPERTIES", "least"]

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
    call = described(seen.plan, member, seen.function)
    return contrast(f"for {call}", "a weight is {got}, which is no number from {due} on", least(weights), 0)


def least(weights: Floats) -> float:
    """Return the smallest entry; NaN if there is one."""
    return float("nan") if np.isnan(weights).any() else float(weights.min())


def _sum1(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    weights, axis = seen.values(member), int(group.data["axis"])
    return _wrong_sum(seen, member, weights.sum(axis=axis), seen.expected(member).relative)


def _wrong_sum(seen: Observations, member: int, sums: Floats, slack: float) -> Evidence | None:
    """Return the sum of weights that is furthest from 1, if one is further than `slack`."""
    found = np.atleast_1d(sums)
    one = np.ones_like(found)
    wrong = differs(found, one, slack)
    if not wrong.any():
        return None
    call = described(seen.plan, member, seen.function)
    clause = (
        "some weights sum to {got} instead of {due}"
        if found.size > 1
        else "the weights sum to {got} instead of {due}"
    )
    return contrast(f"for {call}", clause, found[worst(found, one, wrong)], 1)


def _order(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    weights, scores, axis = seen.values(member), _scores(group, seen), int(group.data["axis"])
    ranked = np.take_along_axis(weights, np.argsort(scores, axis=axis, kind="stable"), axis)
    rising = np.sort(scores, axis=axis)
    wrong = (np.diff(rising, axis=axis) > 1e-6) & ~(np.diff(ranked, axis=axis) > 0)
    if not wrong.any():
        return None
    low = tuple(int(index) for index in np.argwhere(wrong)[0])
    high = tuple(index + (place == axis % wrong.ndim) for place, index in enumerate(low))
    pair = number_pair(rising[low], rising[high])
    got = number_pair(ranked[low], ranked[high])
    clause = f"the score {pair[0]} gets the weight {got[0]}, the larger score {pair[1]} gets {got[1]}"
    return Evidence(f"for {described(seen.plan, member, seen.function)} {clause}", *pair)


def _logratio(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    weights, scores, axis = seen.values(member), _scores(group, seen), int(group.data["axis"])
    if not (weights > 0).all():
        call = described(seen.plan, member, seen.function)
        found, due = number(least(weights)), "a positive number"
        return Evidence(f"for {call} a weight is {found} instead of {due}", found, due)
    got = np.diff(np.log(weights), axis=axis)
    wanted = np.diff(scores, axis=axis)
    wrong = differs(got, wanted, 100 * seen.expected(member).relative)
    if not wrong.any():
        return None
    place = worst(got, wanted, wrong)
    call = described(seen.plan, member, seen.function)
    clause = "two scores differ by {due}, the logarithms of their weights by {got}"
    return contrast(f"for {call}", clause, got[place], wanted[place])


def _settled(group: Group, seen: Observations) -> str | None:
    """Large scores: finite, and weights that sum to 1 (or, without an axis, a mixture of the values)."""
    (member,) = group.members
    values = seen.values(member)
    if not np.isfinite(values).all():
        bad = number(values[~np.isfinite(values)].flat[0])
        return Evidence(f"{described(seen.plan, member, seen.function)} gave {bad}", bad, "a finite number")
    if "axis" not in group.data:
        return leaves_range(group, seen)
    sums = values.sum(axis=int(group.data["axis"]))
    return _wrong_sum(seen, member, sums, max(seen.expected(member).relative, VALUES))


def _hot(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    weights = seen.values(member)
    uniform = np.full_like(weights, 1.0 / weights.shape[-1])
    wrong = differs(weights, uniform, group.data["spread"])
    if not wrong.any():
        return None
    place = worst(weights, uniform, wrong)
    call = described(seen.plan, member, seen.function)
    return contrast(
        f"for {call}", "a weight is {got} instead of almost {due}", weights[place], uniform[place]
    )


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
