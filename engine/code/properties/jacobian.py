"""Properties of the softmax's Jacobian that its products show."""

from __future__ import annotations

import numpy as np

from engine.code.case import Group
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described, numbers

__all__ = ["PROPERTIES"]


def _balanced(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    found = seen.values(member)
    sums = found.sum(axis=-1)
    if (np.abs(sums) <= found.shape[-1] * seen.expected(member).slack).all():
        return None
    call = described(seen.plan, member, seen.function)
    return f"for {call} the sums are {numbers(np.atleast_1d(sums).ravel())}"


PROPERTIES = (
    Property(
        "balanced",
        "rows of the result sum to 0",
        "Each row of the result must sum to 0, because each row of weights sums to 1.",
        _balanced,
    ),
)
