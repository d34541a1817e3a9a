"""Properties of the softmax's Jacobian that its products show."""

from __future__ import annotations

import numpy as np

from engine.code.case import Group
from engine.code.differing import contrast, differs, worst
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described

__all__ = ["PROPERTIES"]


def _balanced(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    found = seen.values(member)
    sums = np.atleast_1d(found.sum(axis=-1))
    zero = np.zeros_like(sums)
    wrong = differs(sums, zero, found.shape[-1] * seen.expected(member).slack)
    if not wrong.any():
        return None
    call = described(seen.plan, member, seen.function)
    return contrast(f"for {call}", "a sum is {got} instead of {due}", sums[worst(sums, zero, wrong)], 0)


PROPERTIES = (
    Property(
        "balanced",
        "rows of the result sum to 0",
        "Each row of the result must sum to 0, because each row of weights sums to 1.",
        _balanced,
    ),
)
