"""Properties of softmax weights along an axis: sign, sum, order, ratios, stability, limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.code.comparison import DifferenceEvidence, apart, contrast, differs, own_slack, worst
from engine.code.observe import PlanObservations
from engine.code.plan import CaseGroup
from engine.code.properties.catalogue import Property
from engine.code.show import described, number, number_pair
from engine.code.tolerance import VALUES

__all__ = [
    "PROPERTIES",
    "_ALIGNMENTS",
    "_HIDING",
    "_MIXTURES",
    "_SCORES",
    "_VISIBILITY",
    "_WEIGHTS",
    "least",
    "leaves_range",
]


# ----------------------------------------------------------------------------------------------------
# Properties of attention outputs as mixtures of values.

Floats = NDArray[np.float64]


def _values_of(group: CaseGroup, seen: PlanObservations) -> Floats:
    """Return the values that are mixed, (n, Dv): given with the group, else the third argument."""
    found = group.data.get("mixed", seen.plan.cases[group.members[0]].args[2])
    return np.asarray(found, dtype=np.float64)


def leaves_range(group: CaseGroup, seen: PlanObservations) -> DifferenceEvidence | None:
    """Return where an output lies outside the smallest and largest value of some coordinate.

    Exactly between would fail half of all right constant-value runs by rounding, so there is slack
    of the size n * eps * max|V|.
    """
    (member,) = group.members
    output, values = seen.values(member), _values_of(group, seen)
    slack = seen.expected(member).slack
    low = np.broadcast_to(values.min(axis=-2, keepdims=True), output.shape)  # from (..., 1, Dv)
    high = np.broadcast_to(values.max(axis=-2, keepdims=True), output.shape)
    below, above = ~(output >= low - slack), ~(output <= high + slack)
    if not (below | above).any():
        return None
    place = tuple(np.argwhere(below | above)[0])
    told, bound = ("smallest", low) if below[place] else ("largest", high)
    call = described(seen.plan, member, seen.function)
    clause = f"an entry is {{got}}, but the {told} of the values there is {{due}}"
    return contrast(f"for {call}", clause, output[place], bound[place])


def _hull(group: CaseGroup, seen: PlanObservations) -> str | None:
    return leaves_range(group, seen)


def _equals(group: CaseGroup, seen: PlanObservations, wanted: Floats) -> str | None:
    (member,) = group.members
    output, slack = seen.values(member), seen.expected(member).slack
    return apart(seen, [member], output, np.broadcast_to(wanted, output.shape), slack)


def _constant(group: CaseGroup, seen: PlanObservations) -> str | None:
    return _equals(group, seen, _values_of(group, seen)[..., :1, :])


def _mean(group: CaseGroup, seen: PlanObservations) -> str | None:
    return _equals(group, seen, _values_of(group, seen).mean(axis=-2, keepdims=True))


def _zeros(group: CaseGroup, seen: PlanObservations) -> str | None:
    (member,) = group.members
    rows = seen.values(member)[..., list(group.data["rows"]), :]
    wrong = rows[~(rows == 0)]
    if not wrong.size:
        return None
    call = described(seen.plan, member, seen.function)
    return contrast(f"for {call}", "such a row holds {got} instead of {due}", wrong[0], 0)


_MIXTURES = (
    Property(
        "hull", "outputs stay among the values", "The output must stay within the range of the values.", _hull
    ),
    Property("const-v", "equal values", "If all values are equal, the output must be that value.", _constant),
    Property(
        "same-keys", "equal keys", "If all keys are equal, the output must be the mean of the values.", _mean
    ),
    Property("one-key", "a single key", "With a single key the output must be its value.", _constant),
    Property(
        "fullmask",
        "queries that see nothing",
        "A query that may attend to nothing must get exact zeros.",
        _zeros,
    ),
)


def _scores(group: CaseGroup, seen: PlanObservations) -> Floats:
    """Return the scores behind the weights: given with the group, else the first argument."""
    found = group.data.get("scores", seen.plan.cases[group.members[0]].args[0])
    return np.asarray(found, dtype=np.float64)


def _nonneg(group: CaseGroup, seen: PlanObservations) -> str | None:
    (member,) = group.members
    weights = seen.values(member)
    if (weights >= 0).all():
        return None
    call = described(seen.plan, member, seen.function)
    return contrast(f"for {call}", "a weight is {got}, which is no number from {due} on", least(weights), 0)


def least(weights: Floats) -> float:
    """Return the smallest entry; NaN if there is one."""
    return float("nan") if np.isnan(weights).any() else float(weights.min())


def _sum1(group: CaseGroup, seen: PlanObservations) -> str | None:
    (member,) = group.members
    weights, axis = seen.values(member), int(group.data["axis"])
    return _wrong_sum(seen, member, weights.sum(axis=axis), seen.expected(member).relative)


def _wrong_sum(seen: PlanObservations, member: int, sums: Floats, slack: float) -> DifferenceEvidence | None:
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


def _order(group: CaseGroup, seen: PlanObservations) -> str | None:
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
    return DifferenceEvidence(f"for {described(seen.plan, member, seen.function)} {clause}", *pair)


def _logratio(group: CaseGroup, seen: PlanObservations) -> str | None:
    (member,) = group.members
    weights, scores, axis = seen.values(member), _scores(group, seen), int(group.data["axis"])
    if not (weights > 0).all():
        call = described(seen.plan, member, seen.function)
        found, due = number(least(weights)), "a positive number"
        return DifferenceEvidence(f"for {call} a weight is {found} instead of {due}", found, due)
    got = np.diff(np.log(weights), axis=axis)
    wanted = np.diff(scores, axis=axis)
    wrong = differs(got, wanted, 100 * seen.expected(member).relative)
    if not wrong.any():
        return None
    place = worst(got, wanted, wrong)
    call = described(seen.plan, member, seen.function)
    clause = "two scores differ by {due}, the logarithms of their weights by {got}"
    return contrast(f"for {call}", clause, got[place], wanted[place])


def _settled(group: CaseGroup, seen: PlanObservations) -> str | None:
    """Large scores: finite, and weights that sum to 1 (or, without an axis, a mixture of the values)."""
    (member,) = group.members
    values = seen.values(member)
    if not np.isfinite(values).all():
        bad = number(values[~np.isfinite(values)].flat[0])
        return DifferenceEvidence(
            f"{described(seen.plan, member, seen.function)} gave {bad}", bad, "a finite number"
        )
    if "axis" not in group.data:
        return leaves_range(group, seen)
    sums = values.sum(axis=int(group.data["axis"]))
    return _wrong_sum(seen, member, sums, max(seen.expected(member).relative, VALUES))


def _hot(group: CaseGroup, seen: PlanObservations) -> str | None:
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


_WEIGHTS = (
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


# ----------------------------------------------------------------------------------------------------
# Properties of scores and weighted sums: closed forms for special inputs, bounds, symmetry.


def _agrees(group: CaseGroup, seen: PlanObservations) -> str | None:
    """Judge a result whose value a shorter formula gives: it comes with the group as ``due``."""
    (member,) = group.members
    got, due = seen.values(member), np.asarray(group.data["due"], dtype=np.float64)
    return apart(seen, [member], got, due, seen.expected(member).slack)


def _within(group: CaseGroup, seen: PlanObservations) -> str | None:
    """Judge bounds of one part: ``low`` and ``high``, broadcast to its shape, come with the group."""
    (member,) = group.members
    part = int(group.data.get("part", 0))
    got, slack = seen.values(member, part), seen.expected(member).parts[part].slack
    low, high = (np.broadcast_to(group.data[name], got.shape) for name in ("low", "high"))
    below, above = ~(got >= low - slack), ~(got <= high + slack)
    if not (below | above).any():
        return None
    place = tuple(np.argwhere(below | above)[0])
    told, bound = ("lower", low) if below[place] else ("upper", high)
    call = described(seen.plan, member, seen.function)
    clause = f"an entry is {{got}}, but its {told} bound is {{due}}"
    return contrast(f"for {call}", clause, got[place], bound[place])


def _negated(group: CaseGroup, seen: PlanObservations) -> str | None:
    first, second = group.members
    wanted = -seen.values(first)
    return apart(seen, [second], seen.values(second), wanted, own_slack(seen, group.members))


def _equal(group: CaseGroup, seen: PlanObservations) -> str | None:
    (member,) = group.members
    got = seen.values(member)
    first = np.broadcast_to(got[:1], got.shape)
    wrong = differs(got, first, 2 * own_slack(seen, [member]))
    if not wrong.any():
        return None
    place = worst(got, first, wrong)
    call = described(seen.plan, member, seen.function)
    return contrast(f"for {call}", "one score is {got}, another one {due}", got[place], first[place])


_SCORES = (
    Property(
        "agrees",
        "special inputs with a known result",
        "For such special inputs a shorter formula must give the same result.",
        _agrees,
    ),
    Property(
        "within",
        "bounds of the result",
        "The result must stay within the bounds that the definition sets.",
        _within,
    ),
    Property(
        "negated",
        "changed signs",
        "Changing the sign of the inputs must change the sign of the scores.",
        _negated,
    ),
    Property(
        "equal-scores",
        "keys that count the same",
        "If all keys count the same, all scores must be equal.",
        _equal,
    ),
)


# ----------------------------------------------------------------------------------------------------
# Properties of weights under a mask: what is hidden weighs nothing, what is left is a softmax of its own.


def _hidden_zero(group: CaseGroup, seen: PlanObservations) -> str | None:
    """The mask is the second argument; the comparison is exact, and NaN is no zero."""
    (member,) = group.members
    weights, mask = seen.values(member), np.asarray(seen.plan.cases[member].args[1])
    hidden = weights[~np.broadcast_to(mask, weights.shape)]
    wrong = hidden[~(hidden == 0)]
    if not wrong.size:
        return None
    call = described(seen.plan, member, seen.function)
    return contrast(f"for {call}", "a hidden entry gets {got} instead of {due}", wrong[0], 0)


def _left_out(group: CaseGroup, seen: PlanObservations) -> str | None:
    """Judge two calls: one hides all but some entries of every row, the other has only those."""
    whole, short = group.members
    got = seen.values(whole)[..., list(group.data["kept"])]
    slack = own_slack(seen, group.members)
    return apart(seen, group.members, got, seen.values(short), slack, noun="a weight")


_HIDING = (
    Property("hidden-zero", "hidden entries weigh 0", "Hidden entries must get exactly 0.", _hidden_zero),
    Property(
        "left-out", "hiding is like leaving out", "Hiding an entry must act like leaving it out.", _left_out
    ),
)


# ----------------------------------------------------------------------------------------------------
# Properties of a causal mask: a position sees itself and what came before, nothing later.


def _all_are(
    wanted: float, chosen: Callable[[int], NDArray[np.bool_]], told: str
) -> Callable[[CaseGroup, PlanObservations], str | None]:
    def judge(group: CaseGroup, seen: PlanObservations) -> str | None:
        (member,) = group.members
        mask = seen.values(member)
        if (mask[chosen(len(mask))] == wanted).all():
            return None
        return DifferenceEvidence(f"in {described(seen.plan, member, seen.function)} {told}")

    return judge


def _diagonal(n: int) -> NDArray[np.bool_]:
    return np.eye(n, dtype=bool)


def _earlier(n: int) -> NDArray[np.bool_]:
    return np.tri(n, k=-1, dtype=bool)


def _later(n: int) -> NDArray[np.bool_]:
    return ~np.tri(n, dtype=bool)


_ITSELF = _all_are(1, _diagonal, "a position doesn't see itself")
_PAST = _all_are(1, _earlier, "a position doesn't see an earlier one")
_FUTURE = _all_are(0, _later, "a position sees a later one")

_VISIBILITY = (
    Property("sees-itself", "positions see themselves", "Every position must see itself.", _ITSELF),
    Property("sees-past", "positions see earlier ones", "Every position must see all earlier ones.", _PAST),
    Property("no-future", "positions don't see later ones", "No position may see a later one.", _FUTURE),
)


# ----------------------------------------------------------------------------------------------------
# Properties of hard alignments: one 1 in each row, at the row's largest weight.


def _one_hot(group: CaseGroup, seen: PlanObservations) -> str | None:
    (member,) = group.members
    rows = seen.values(member)
    for row in rows:
        if np.count_nonzero(row == 1) != 1 or np.count_nonzero(row) != 1:
            call = described(seen.plan, member, seen.function)
            shown = _row(row)
            return DifferenceEvidence(f"for {call} a row is {shown}", shown, "a single 1 and zeros")
    return None


def _largest(group: CaseGroup, seen: PlanObservations) -> str | None:
    """Judge that every 1 stands at one of its row's largest weights."""
    (member,) = group.members
    rows, weights = seen.values(member), np.asarray(seen.plan.cases[member].args[0], dtype=np.float64)
    top = weights == weights.max(axis=-1, keepdims=True)
    wrong = (rows == 1) & ~top
    if not wrong.any():
        return None
    row, column = (int(index) for index in np.argwhere(wrong)[0])
    call = described(seen.plan, member, seen.function)
    clause = f"a 1 stands in row {row} at the weight {{got}}, where the largest is {{due}}"
    return contrast(f"for {call}", clause, weights[row, column], weights[row].max())


def _row(row: NDArray[np.float64]) -> str:
    """Return a row with as many digits as it takes to see that it isn't one-hot."""
    for digits in (6, 9, 12):
        shown = [number(value, digits) for value in row[:8]]
        if sorted(shown) != ["0"] * (len(shown) - 1) + ["1"]:
            break
    more = ", …" if len(row) > 8 else ""
    return f"[{', '.join(shown)}{more}]"


_ALIGNMENTS = (
    Property("one-hot", "a single 1 in each row", "Each row must hold a single 1 and zeros.", _one_hot),
    Property(
        "at-largest",
        "the 1 stands at the largest weight",
        "The 1 of a row must stand at its largest weight.",
        _largest,
    ),
)

PROPERTIES = (*_WEIGHTS, *_MIXTURES, *_SCORES, *_HIDING, *_VISIBILITY, *_ALIGNMENTS)
