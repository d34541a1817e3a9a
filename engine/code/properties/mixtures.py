"""Properties of attention outputs as mixtures of values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Group
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described, number, number_pair

__all__ = ["PROPERTIES", "leaves_range"]

Floats = NDArray[np.float64]


def _values_of(group: Group, seen: Observations) -> Floats:
    """Return the values that are mixed, (n, Dv): given with the group, else the third argument."""
    found = group.data.get("mixed", seen.plan.cases[group.members[0]].args[2])
    return np.asarray(found, dtype=np.float64)


def leaves_range(group: Group, seen: Observations) -> bool:
    """Return whether an output lies outside the smallest and largest value of some coordinate.

    Exactly between would fail half of all right constant-value runs by rounding, so there is slack
    of the size n * eps * max|V|.
    """
    (member,) = group.members
    output, values = seen.values(member), _values_of(group, seen)
    slack = seen.expected(member).slack
    low = values.min(axis=-2, keepdims=True) - slack  # (..., 1, Dv)
    high = values.max(axis=-2, keepdims=True) + slack
    return not bool(((output >= low) & (output <= high)).all())


def _hull(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    if not leaves_range(group, seen):
        return None
    return f"for {described(seen.plan, member, seen.function)} the output leaves the range of the values"


def _equals(group: Group, seen: Observations, wanted: Floats) -> str | None:
    (member,) = group.members
    output, slack = seen.values(member), seen.expected(member).slack
    right = np.abs(output - wanted) <= slack
    if right.all():
        return None
    place = tuple(np.argwhere(~right)[0])
    wide = np.broadcast_to(wanted, output.shape)
    call = described(seen.plan, member, seen.function)
    found, due = number_pair(output[place], wide[place])
    return f"for {call} an entry is {found} instead of {due}"


def _constant(group: Group, seen: Observations) -> str | None:
    return _equals(group, seen, _values_of(group, seen)[..., :1, :])


def _mean(group: Group, seen: Observations) -> str | None:
    return _equals(group, seen, _values_of(group, seen).mean(axis=-2, keepdims=True))


def _zeros(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    rows = seen.values(member)[..., list(group.data["rows"]), :]
    if (rows == 0).all():
        return None
    return f"for {described(seen.plan, member, seen.function)} such a row holds {number(rows.flat[0])}"


PROPERTIES = (
    Property(
        "hull", "outputs stay among the values", "The output must stay within the range of the values.", _hull
    ),
    Property("const-v", "equal values", "If all values are equal, the output must be that value.", _constant),
    Property(
        "same-keys", "equal keys", "If all keys are equal, the output must be the mean of the values.", _mean
    ),
    Property("one-key", "a single key", "With a single key the output must be its value.", _constant),
    Property(
        "fullmask",
        "queries that see nothing",
        "A query that may attend to nothing must get exact zeros.",
        _zeros,
    ),
)
