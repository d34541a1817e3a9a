"""Properties of hard alignments: one 1 in each row, at the row's largest weight."""

from __future__ import annotations

import numpy as np

from engine.code.case import Group
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described, numbers

__all__ = ["PROPERTIES"]


def _one_hot(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    rows = seen.values(member)
    for row in rows:
        if np.count_nonzero(row == 1) != 1 or np.count_nonzero(row) != 1:
            return f"for {described(seen.plan, member, seen.function)} a row holds {numbers(row)}"
    return None


def _largest(group: Group, seen: Observations) -> str | None:
    """Judge that every 1 stands at one of its row's largest weights."""
    (member,) = group.members
    rows, weights = seen.values(member), np.asarray(seen.plan.cases[member].args[0], dtype=np.float64)
    top = weights == weights.max(axis=-1, keepdims=True)
    if not ((rows == 1) & ~top).any():
        return None
    return f"for {described(seen.plan, member, seen.function)} a 1 stands at a smaller weight of its row"


PROPERTIES = (
    Property("one-hot", "a single 1 in each row", "Each row must hold a single 1 and zeros.", _one_hot),
    Property(
        "at-largest",
        "the 1 stands at the largest weight",
        "The 1 of a row must stand at its largest weight.",
        _largest,
    ),
)
