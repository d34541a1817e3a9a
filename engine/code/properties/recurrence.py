"""Properties of states that follow from one another."""

from __future__ import annotations

import numpy as np

from engine.code.case import Group
from engine.code.differing import total_slack
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described, number_pair, worst_place

__all__ = ["PROPERTIES"]


def _chain(group: Group, seen: Observations) -> str | None:
    """Judge that the states of a whole sequence are those of its first part and then of the rest."""
    whole, first, rest = group.members
    wanted = np.concatenate([seen.values(first), seen.values(rest)])
    error = np.abs(seen.values(whole) - wanted)
    if (error <= total_slack(seen, group.members)).all():
        return None
    worst = worst_place(error)
    found, due = number_pair(seen.values(whole)[worst], wanted[worst])
    call = described(seen.plan, whole, seen.function)
    return f"for {call} an entry is {found}, but {due} if the sequence is given in two parts"


PROPERTIES = (
    Property(
        "chain",
        "a sequence in two parts",
        "A sequence given in two parts must lead to the same states as in one.",
        _chain,
    ),
)
