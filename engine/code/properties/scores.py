"""Properties of scores and weighted sums: closed forms for special inputs, bounds, symmetry."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Group
from engine.code.differing import apart, contrast, differs, own_slack, worst
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described

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
    below, above = ~(got >= low - slack), ~(got <= high + slack)
    if not (below | above).any():
        return None
    place = tuple(np.argwhere(below | above)[0])
    told, bound = ("lower", low) if below[place] else ("upper", high)
    call = described(seen.plan, member, seen.function)
    clause = f"an entry is {{got}}, but its {told} bound is {{due}}"
    return contrast(f"for {call}", clause, got[place], bound[place])


def _negated(group: Group, seen: Observations) -> str | None:
    first, second = group.members
    wanted = -seen.values(first)
    return apart(seen, [second], seen.values(second), wanted, own_slack(seen, group.members))


def _equal(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    got = seen.values(member)
    first = np.broadcast_to(got[:1], got.shape)
    wrong = differs(got, first, 2 * own_slack(seen, [member]))
    if not wrong.any():
        return None
    place = worst(got, first, wrong)
    call = described(seen.plan, member, seen.function)
    return contrast(f"for {call}", "one score is {got}, another one {due}", got[place], first[place])


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
