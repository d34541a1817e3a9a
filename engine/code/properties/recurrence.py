"""Properties of states that follow from one another."""

from __future__ import annotations

import numpy as np

from engine.code.case import Group
from engine.code.differing import contrast, differs, own_slack, worst
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described

__all__ = ["PROPERTIES"]


def _chain(group: Group, seen: Observations) -> str | None:
    """Judge that the states of a whole sequence are those of its first part and then of the rest."""
    whole, first, rest = group.members
    wanted = np.concatenate([seen.values(first), seen.values(rest)])
    got = seen.values(whole)
    wrong = differs(got, wanted, own_slack(seen, group.members))
    if not wrong.any():
        return None
    place = worst(got, wanted, wrong)
    call = described(seen.plan, whole, seen.function)
    clause = "an entry is {got}, but {due} if the sequence is given in two parts"
    return contrast(f"for {call}", clause, got[place], wanted[place])


PROPERTIES = (
    Property(
        "chain",
        "a sequence in two parts",
        "A sequence given in two parts must lead to the same states as in one.",
        _chain,
    ),
)
