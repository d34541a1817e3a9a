"""Properties of weights under a mask: what is hidden weighs nothing, what is left is a softmax of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Group
from engine.code.differing import apart, contrast, own_slack
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described

__all__ = ["PROPERTIES"]

Floats = NDArray[np.float64]


def _hidden_zero(group: Group, seen: Observations) -> str | None:
    """The mask is the second argument; the comparison is exact, and NaN is no zero."""
    (member,) = group.members
    weights, mask = seen.values(member), np.asarray(seen.plan.cases[member].args[1])
    hidden = weights[~np.broadcast_to(mask, weights.shape)]
    wrong = hidden[~(hidden == 0)]
    if not wrong.size:
        return None
    call = described(seen.plan, member, seen.function)
    return contrast(f"for {call}", "a hidden entry gets {got} instead of {due}", wrong[0], 0)


def _left_out(group: Group, seen: Observations) -> str | None:
    """Judge two calls: one hides all but some entries of every row, the other has only those."""
    whole, short = group.members
    got = seen.values(whole)[..., list(group.data["kept"])]
    slack = own_slack(seen, group.members)
    return apart(seen, group.members, got, seen.values(short), slack, noun="a weight")


PROPERTIES = (
    Property("hidden-zero", "hidden entries weigh 0", "Hidden entries must get exactly 0.", _hidden_zero),
    Property(
        "left-out", "hiding is like leaving out", "Hiding an entry must act like leaving it out.", _left_out
    ),
)
