"""Laws of attention's gradients (dQ, dK, dV): sums, relations between calls, one law that ties dQ to dK.

Where a group has ``parts``, the law is judged on these parts alone, else on all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.code.comparison import describe_part_difference, describe_worst, total_slack
from engine.code.observe import PlanObservations
from engine.code.plan import CaseGroup
from engine.code.properties import Property
from engine.code.properties.weights import log_ratios_differ

Floats = NDArray[np.float64]


def _related(
    due: Callable[[CaseGroup, PlanObservations, int], Floats],
) -> Callable[[CaseGroup, PlanObservations], str | None]:
    """Return a judge of the last member's parts: `due` gives them from the members before."""

    def judge(group: CaseGroup, run: PlanObservations) -> str | None:
        last = group.members[-1]
        for part in group.data.get("parts", range(len(run.expected(last).parts))):
            evidence = describe_part_difference(run, group.members, part, due(group, run, part))
            if evidence is not None:
                return evidence
        return None

    return judge


def _combined(group: CaseGroup, run: PlanObservations, part: int) -> Floats:
    first, second = group.members[:2]
    a, b = group.data["factors"]
    return np.asarray(a * run.values(first, part) + b * run.values(second, part))


def _tiled(group: CaseGroup, run: PlanObservations, part: int) -> Floats:
    # the gradient of repeated columns is repeated, times the part's factor
    factor, times = group.data["factors"][part], group.data["times"][part]
    return np.asarray(np.tile(factor * run.values(group.members[0], part), (1, times)))


def _row_sums(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge the sum of one part's rows: it comes with the group as ``due``."""
    (member,) = group.members
    part = int(group.data["part"])
    rows, due = run.values(member, part), np.asarray(group.data["due"], dtype=np.float64)
    got, slack = rows.sum(axis=0), len(rows) * total_slack(run, [member], part)
    name = run.expected(member).result.parts[part]
    clause = f"for {{call}} the rows of {name} sum to {{got}} instead of {{due}} in column {{index}}"
    return describe_worst(run, member, clause, got, np.broadcast_to(due, got.shape), slack)


def _balance(group: CaseGroup, run: PlanObservations) -> str | None:
    # both sides are Q^T dS K, where dS is the gradient of the scores; Q and K are the first arguments
    (member,) = group.members
    Q, K = (np.asarray(value, dtype=np.float64) for value in run.plan.cases[member].args[:2])
    of_dq, of_dk = Q.T @ run.values(member, 0), run.values(member, 1).T @ K
    slack = total_slack(run, [member]) * (1.0 + np.abs(Q).sum() + np.abs(K).sum())
    clause = "for {call} an entry of Q^T dQ is {got}, but of dK^T K {due}"
    return describe_worst(run, member, clause, of_dq, of_dk, slack)


def _log_ratios(group: CaseGroup, run: PlanObservations) -> str | None:
    """Judge dV, the third part, where G is the unit matrix, so that its columns are rows of weights."""
    (member,) = group.members
    weights, scores = run.values(member, 2).T, np.asarray(group.data["scores"], dtype=np.float64)
    clause = "for {call} the logarithms of two entries of a column of dV differ by {got} instead of {due}"
    return log_ratios_differ(run, member, weights, scores, 1, "an entry of dV", clause)


def _balanced(group: CaseGroup, run: PlanObservations) -> str | None:
    (member,) = group.members
    products = run.values(member)
    sums = np.atleast_1d(products.sum(axis=-1))
    slack = products.shape[-1] * run.expected(member).slack
    clause = "for {call} a sum is {got} instead of {due}"
    return describe_worst(run, member, clause, sums, np.zeros_like(sums), slack)


PROPERTIES = (
    Property(
        "grads-linear", "gradients are linear in G", "All gradients must be linear in G.", _related(_combined)
    ),
    Property(
        "grads-tiled", "gradients for repeated features",
        "Repeating the features of queries and keys must change the gradients by the right factor.",
        _related(_tiled),
    ),
    Property(
        "row-sums", "sums of the gradient's rows",
        "The rows of the gradient must have the right sum.", _row_sums,
    ),
    Property("grad-balance", "dQ and dK fit each other", "Q^T dQ must be equal to dK^T K.", _balance),
    Property(
        "weights-in-dv", "dV holds softmax weights",
        "If G is the unit matrix, dV must hold the transposed weights of a softmax over the keys.",
        _log_ratios,
    ),
    # of the softmax's Jacobian, by its products
    Property(
        "balanced", "rows of the result sum to 0",
        "Each row of the result must sum to 0, because each row of weights sums to 1.", _balanced,
    ),
)  # fmt: skip
