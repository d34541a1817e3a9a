"""Properties of one part of a result that has several, such as a decoder step's."""

from __future__ import annotations

import numpy as np

from engine.code.case import Group
from engine.code.differing import apart, contrast, part_apart
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.properties.weights import least
from engine.code.show import described

__all__ = ["PROPERTIES"]


def _agrees(group: Group, seen: Observations) -> str | None:
    """Judge one part whose value a shorter formula gives."""
    (member,) = group.members
    part = int(group.data["part"])
    got, due = seen.values(member, part), np.asarray(group.data["due"], dtype=np.float64)
    slack = 2 * seen.expected(member).parts[part].slack
    return apart(seen, [member], got, np.broadcast_to(due, got.shape), slack)


def _distribution(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    part = int(group.data["part"])
    got, slack = seen.values(member, part), seen.expected(member).parts[part].slack
    call = described(seen.plan, member, seen.function)
    if not (got >= -slack).all():
        return contrast(
            f"for {call}", "a probability is {got}, which is no number from {due} on", least(got), 0
        )
    if not abs(float(got.sum()) - 1) <= len(got) * slack:
        return contrast(f"for {call}", "the sum is {got} instead of {due}", got.sum(), 1)
    return None


def _same(group: Group, seen: Observations) -> str | None:
    """Judge that the second call gives what the first one gave, rows of parts with ``orders`` reordered.

    The group's ``parts`` are judged, all of them without.
    """
    first, second = group.members
    orders = group.data.get("orders", {})
    for part in group.data.get("parts", range(len(seen.expected(second).parts))):
        wanted = seen.values(first, part)
        told = part_apart(seen, group.members, part, wanted[orders[part]] if part in orders else wanted)
        if told is not None:
            return told
    return None


PROPERTIES = (
    Property(
        "part-agrees",
        "special inputs with a known result",
        "For such special inputs a shorter formula must give the same result.",
        _agrees,
    ),
    Property(
        "distribution",
        "probabilities sum to 1",
        "Probabilities must not be negative and must sum to 1.",
        _distribution,
    ),
    Property(
        "parts-same",
        "results that such a change leaves alone",
        "Such a change of the input must leave these results as they are.",
        _same,
    ),
)
