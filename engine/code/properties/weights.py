"""Properties of weights, scores and what they mix: sign, sum, order, ratios, bounds, masks, limits.

Under a mask, what is hidden weighs nothing and what is left is a softmax of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.code.comparison import (
    DifferenceEvidence,
    contrast,
    describe_difference,
    describe_worst,
    number,
    number_pair,
    slack_between,
)
from engine.code.observe import PlanObservations
from engine.code.plan import VALUES_TOLERANCE, CaseGroup
from engine.code.properties import Property

Floats = NDArray[np.float64]

# Scores that are nearer than this may be equal after rounding: then neither weight need be the larger one.
_SAME_SCORE = 1e-6
# The logarithm of a weight loses what the weight loses, and once more in the difference of two; a right
# program in the dtype of the input stays far below this many tolerances, a wrong scale far above.
_LOG_FACTOR = 100


def _values_of(group: CaseGroup, run: PlanObservations) -> Floats:
    """Return the values that are mixed, (n, Dv): given with the group, else the third argument."""
    mixed = group.data.get("mixed", run.plan.cases[group.members[0]].args[2])
    return np.asarray(mixed, dtype=np.float64)


def _scores_of(group: CaseGroup, run: PlanObservations) -> Floats:
    """Return the scores behind the weights: given with the group, else the first argument."""
    scores = group.data.get("scores", run.plan.cases[group.members[0]].args[0])
    return np.asarray(scores, dtype=np.float64)


def leaves_range(group: CaseGroup, run: PlanObservations) -> DifferenceEvidence | None:
    """Return where an output lies outside the smallest and largest value of some coordinate."""
    (member,) = group.members
    values = _values_of(group, run)
    low, high = values.min(axis=-2, keepdims=True), values.max(axis=-2, keepdims=True)  # (..., 1, Dv)
    clause = "for {{call}} an entry is {{got}}, but the {} of the values there is {{due}}"
    return _out_of_bounds(run, member, 0, (low, high), (clause.format("smallest"), clause.format("largest")))


def _out_of_bounds(
    run: PlanObservations, member: int, part: int, bounds: tuple[Floats, Floats], clauses: tuple[str, str]
) -> DifferenceEvidence | None:
    # without slack, rounding would fail half of all right programs on values that are all equal
    got, slack = run.values(member, part), run.expected(member).parts[part].slack
    low, high = (np.broadcast_to(bound, got.shape) for bound in bounds)
    below, above = ~(got >= low - slack), ~(got <= high + slack)  # NaN is outside
    if not (below | above).any():
        return None
    index = tuple(np.argwhere(below | above)[0])
    clause, bound = (clauses[0], low) if below[index] else (clauses[1], high)
    return contrast(run, member, clause, got[index], bound[index])


def _equals(group: CaseGroup, run: PlanObservations, due: Floats) -> str | None:
    (member,) = group.members
    output, slack = run.values(member), run.expected(member).slack
    return describe_difference(run, [member], output, np.broadcast_to(due, output.shape), slack)


def _constant(group: CaseGroup, run: PlanObservations) -> str | None:
    return _equals(group, run, _values_of(group, run)[..., :1, :])


def _mean(group: CaseGroup, run: PlanObservations) -> str | None:
    return _equals(group, run, _values_of(group, run).mean(axis=-2, keepdims=True))


def _zeros(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    rows = run.values(member)[..., list(group.data["rows"]), :]
    return _first_nonzero(run, member, rows, "for {call} such a row holds {got} instead of {due}")


def _first_nonzero(run: PlanObservations, member: int, entries: Floats, clause: str) -> str | None:
    wrong = entries[~(entries == 0)]  # the comparison is exact, and NaN isn't a zero
    return contrast(run, member, clause, wrong[0], 0) if wrong.size else None


def _nonneg(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    weights = run.values(member)
    if (weights >= 0).all():
        return None
    clause = "for {call} a weight is {got}, but must be at least {due}"
    return contrast(run, member, clause, least(weights), 0)


def least(weights: Floats) -> float:
    """Return the smallest entry; NaN if there is one."""
    return float("nan") if np.isnan(weights).any() else float(weights.min())


def _sum1(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    weights, axis = run.values(member), int(group.data["axis"])
    return _wrong_sum(run, member, weights.sum(axis=axis), run.expected(member).relative)


def _wrong_sum(run: PlanObservations, member: int, sums: Floats, slack: float) -> DifferenceEvidence | None:
    sums = np.atleast_1d(sums)
    which = "some" if sums.size > 1 else "the"
    clause = f"for {{call}} {which} weights sum to {{got}} instead of {{due}}"
    return describe_worst(run, member, clause, sums, np.ones_like(sums), slack)


def _order(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    weights, scores, axis = run.values(member), _scores_of(group, run), int(group.data["axis"])
    ranked = np.take_along_axis(weights, np.argsort(scores, axis=axis, kind="stable"), axis)
    rising = np.sort(scores, axis=axis)
    wrong = (np.diff(rising, axis=axis) > _SAME_SCORE) & ~(np.diff(ranked, axis=axis) > 0)
    if not wrong.any():
        return None
    low = tuple(int(index) for index in np.argwhere(wrong)[0])
    high = tuple(index + (place == axis % wrong.ndim) for place, index in enumerate(low))
    pair = number_pair(rising[low], rising[high])
    got = number_pair(ranked[low], ranked[high])
    clause = f"the score {pair[0]} gets the weight {got[0]}, the larger score {pair[1]} gets {got[1]}"
    return DifferenceEvidence(f"for {run.call(member)} {clause}", *pair)


def _logratio(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    weights, scores, axis = run.values(member), _scores_of(group, run), int(group.data["axis"])
    clause = "for {call} two scores differ by {due}, the logarithms of their weights by {got}"
    return log_ratios_differ(run, member, weights, scores, axis, "a weight", clause)


def log_ratios_differ(
    run: PlanObservations, member: int, weights: Floats, scores: Floats, axis: int, noun: str, clause: str
) -> DifferenceEvidence | None:
    """Return where the logarithms of two neighbouring weights don't differ by as much as their scores."""
    if not (weights > 0).all():
        got, due = number(least(weights)), "a positive number"
        return DifferenceEvidence(f"for {run.call(member)} {noun} is {got} instead of {due}", got, due)
    ratios, differences = np.diff(np.log(weights), axis=axis), np.diff(scores, axis=axis)
    slack = _LOG_FACTOR * run.expected(member).relative
    return describe_worst(run, member, clause, ratios, differences, slack)


def _settled(group: CaseGroup, run: PlanObservations) -> str | None:
    # large scores: finite, and weights that sum to 1 (or, without an axis, a mixture of the values)
    (member,) = group.members
    values = run.values(member)
    if not np.isfinite(values).all():
        got = number(values[~np.isfinite(values)].flat[0])
        return DifferenceEvidence(f"{run.call(member)} gave {got}", got, "a finite number")
    if "axis" not in group.data:
        return leaves_range(group, run)
    sums = values.sum(axis=int(group.data["axis"]))
    return _wrong_sum(run, member, sums, max(run.expected(member).relative, VALUES_TOLERANCE))


def _hot(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    weights = run.values(member)
    uniform = np.full_like(weights, 1.0 / weights.shape[-1])
    clause = "for {call} a weight is {got} instead of almost {due}"
    return describe_worst(run, member, clause, weights, uniform, group.data["spread"])


def _agrees(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge a result whose value a shorter formula gives: it comes with the group as ``due``."""
    (member,) = group.members
    got, due = run.values(member), np.asarray(group.data["due"], dtype=np.float64)
    return describe_difference(run, [member], got, due, run.expected(member).slack)


def _within(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge bounds of one part: ``low`` and ``high``, broadcast to its shape, come with the group."""
    (member,) = group.members
    bounds = (np.asarray(group.data["low"]), np.asarray(group.data["high"]))
    clause = "for {{call}} an entry is {{got}}, but its {} bound is {{due}}"
    part = int(group.data.get("part", 0))
    return _out_of_bounds(run, member, part, bounds, (clause.format("lower"), clause.format("upper")))


def _negated(group: CaseGroup, run: PlanObservations) -> str | None:
    first, second = group.members
    due = -run.values(first)
    return describe_difference(run, [second], run.values(second), due, slack_between(run, group.members))


def _equal(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    got = run.values(member)
    first = np.broadcast_to(got[:1], got.shape)
    clause = "for {call} one score is {got}, another one {due}"
    return describe_worst(run, member, clause, got, first, 2 * slack_between(run, [member]))


def _hidden_zero(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    weights, mask = run.values(member), np.asarray(run.plan.cases[member].args[1])
    hidden = weights[~np.broadcast_to(mask, weights.shape)]
    return _first_nonzero(run, member, hidden, "for {call} a hidden entry gets {got} instead of {due}")


def _left_out(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge two calls: one hides all but some entries of every row, the other has only those."""
    whole, short = group.members
    got = run.values(whole)[..., list(group.data["kept"])]
    slack = slack_between(run, group.members)
    return describe_difference(run, group.members, got, run.values(short), slack, noun="a weight")


def _all_are(
    due: float, entries: Callable[[int], NDArray[np.bool_]], clause: str
) -> Callable[[CaseGroup, PlanObservations], str | None]:
    """Return a judge of a causal mask: these entries of a mask of this size must have one value."""

    def judge(group: CaseGroup, run: PlanObservations) -> str | None:
        (member,) = group.members
        mask = run.values(member)
        if (mask[entries(len(mask))] == due).all():
            return None
        return DifferenceEvidence(f"in {run.call(member)} {clause}")

    return judge


_ITSELF = _all_are(1, lambda n: np.eye(n, dtype=bool), "a position doesn't see itself")
_PAST = _all_are(1, lambda n: np.tri(n, k=-1, dtype=bool), "a position doesn't see an earlier one")
_FUTURE = _all_are(0, lambda n: ~np.tri(n, dtype=bool), "a position sees a later one")


def _one_hot(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    for row in run.values(member):
        if np.count_nonzero(row == 1) != 1 or np.count_nonzero(row) != 1:
            text = _row_text(row)
            return DifferenceEvidence(f"for {run.call(member)} a row is {text}", text, "a single 1 and zeros")
    return None


def _largest(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge that every 1 stands at one of its row's largest weights."""
    (member,) = group.members
    rows, weights = run.values(member), np.asarray(run.plan.cases[member].args[0], dtype=np.float64)
    top = weights == weights.max(axis=-1, keepdims=True)
    wrong = (rows == 1) & ~top
    if not wrong.any():
        return None
    row, column = (int(index) for index in np.argwhere(wrong)[0])
    clause = f"for {{call}} a 1 is in row {row} at the weight {{got}}, where the largest is {{due}}"
    return contrast(run, member, clause, weights[row, column], weights[row].max())


def _row_text(row: Floats) -> str:
    # with as many digits as it takes to see that it isn't one-hot
    for digits in (6, 9, 12):
        texts = [number(value, digits) for value in row[:8]]
        if sorted(texts) != ["0"] * (len(texts) - 1) + ["1"]:
            break
    more = ", …" if len(row) > 8 else ""
    return f"[{', '.join(texts)}{more}]"


PROPERTIES = (
    # of weights
    Property("nonneg", "no negative weights", "No weight may be negative.", _nonneg),
    Property("sum1", "weights sum to 1", "The weights along the axis must sum to 1.", _sum1),
    Property("order", "larger scores get larger weights", "A larger score must get a larger weight.", _order),
    Property(
        "logratio", "ratios of the weights",
        "The logarithms of two weights must differ by as much as their scores do.", _logratio,
    ),
    Property(
        "stable", "large scores",
        "Large scores, up to 10,000 and more, must give finite results.", _settled,
    ),
    Property(
        "rows-apart", "rows of very different size",
        "Rows near +10,000 and rows near -10,000 in one array must both give weights that sum to 1.",
        _settled,
    ),
    Property(
        "hot", "almost equal scores",
        "Scores that are almost equal must give weights that are almost equal.", _hot,
    ),
    # of mixtures of values
    Property(
        "hull", "outputs stay among the values",
        "The output must stay within the range of the values.", leaves_range,
    ),
    Property("const-v", "equal values", "If all values are equal, the output must be that value.", _constant),
    Property(
        "same-keys", "equal keys",
        "If all keys are equal, the output must be the mean of the values.", _mean,
    ),
    Property("one-key", "a single key", "With a single key the output must be its value.", _constant),
    Property(
        "fullmask", "queries that see nothing",
        "A query that may attend to nothing must get exact zeros.", _zeros,
    ),
    # of scores and weighted sums
    Property(
        "agrees", "special inputs with a known result",
        "For such special inputs a shorter formula must give the same result.", _agrees,
    ),
    Property(
        "within", "bounds of the result",
        "The result must stay within the bounds that the definition sets.", _within,
    ),
    Property(
        "negated", "changed signs",
        "Changing the sign of the inputs must change the sign of the scores.", _negated,
    ),
    Property(
        "equal-scores", "keys that count the same",
        "If all keys count the same, all scores must be equal.", _equal,
    ),
    # of weights under a mask
    Property("hidden-zero", "hidden entries weigh 0", "Hidden entries must get exactly 0.", _hidden_zero),
    Property(
        "left-out", "hiding is like leaving out",
        "Hiding an entry must act like leaving it out.", _left_out,
    ),
    # of a causal mask
    Property("sees-itself", "positions see themselves", "Every position must see itself.", _ITSELF),
    Property("sees-past", "positions see earlier ones", "Every position must see all earlier ones.", _PAST),
    Property("no-future", "positions don't see later ones", "No position may see a later one.", _FUTURE),
    # of hard alignments
    Property("one-hot", "a single 1 in each row", "Each row must hold a single 1 and zeros.", _one_hot),
    Property(
        "at-largest", "the 1 is at the largest weight",
        "The 1 of a row must be at its largest weight.", _largest,
    ),
)  # fmt: skip
