"""Properties of scores and weighted sums: closed forms for special inputs, bounds, symmetry."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Group
from engine.code.differing import apart, total_slack
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described, number

__all__ = ["PROPERTIES"]

Floats = NDArray[np.float64]


def _agrees(group: Group, seen: Observations) -> str | None:
    """Judge a result whose value a shorter formula gives: it comes with the group as ``due``."""
    (member,) = group.members
    got, due = seen.values(member), np.asarray(group.data["due"], dtype=np.float64)
    return apart(seen, [member], got, due, seen.expected(member).slack)


def _within(group: Group, seen: Observations) -> str | None:
    """Judge bounds of one part: ``low`` and ``high``, broadcast to its shape, come with the group."""
    (member,) = group.members
    part = int(group.data.get("part", 0))
    got, slack = seen.values(member, part), seen.expected(member).parts[part].slack
    low, high = (np.broadcast_to(group.data[name], got.shape) for name in ("low", "high"))
    wrong = ~((got >= low - slack) & (got <= high + slack))
    if not wrong.any():
        return None
    place = tuple(np.argwhere(wrong)[0])
    call = described(seen.plan, member, seen.function)
    return (
        f"for {call} an entry is {number(got[place])}, outside of the range from "
        f"{number(low[place])} to {number(high[place])}"
    )


def _negated(group: Group, seen: Observations) -> str | None:
    first, second = group.members
    wanted = -seen.values(first)
    return apart(seen, [second], seen.values(second), wanted, total_slack(seen, group.members))


def _equal(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    got = seen.values(member)
    if (np.abs(got - got[:1]) <= 2 * seen.expected(member).slack).all():
        return None
    call = described(seen.plan, member, seen.function)
    return f"for {call} the scores go from {number(got.min())} to {number(got.max())}"


PROPERTIES = (
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
