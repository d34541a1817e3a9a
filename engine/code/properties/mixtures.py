"""Properties of attention outputs as mixtures of values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Group
from engine.code.differing import Evidence, apart, contrast
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described

__all__ = ["PROPERTIES", "leaves_range"]

Floats = NDArray[np.float64]


def _values_of(group: Group, seen: Observations) -> Floats:
    """Return the values that are mixed, (n, Dv): given with the group, else the third argument."""
    found = group.data.get("mixed", seen.plan.cases[group.members[0]].args[2])
    return np.asarray(found, dtype=np.float64)


def leaves_range(group: Group, seen: Observations) -> Evidence | None:
    """Return where an output lies outside the smallest and largest value of some coordinate.

    Exactly between would fail half of all right constant-value runs by rounding, so there is slack
    of the size n * eps * max|V|.
    """
    (member,) = group.members
    output, values = seen.values(member), _values_of(group, seen)
    slack = seen.expected(member).slack
    low = np.broadcast_to(values.min(axis=-2, keepdims=True), output.shape)  # from (..., 1, Dv)
    high = np.broadcast_to(values.max(axis=-2, keepdims=True), output.shape)
    below, above = ~(output >= low - slack), ~(output <= high + slack)
    if not (below | above).any():
        return None
    place = tuple(np.argwhere(below | above)[0])
    told, bound = ("smallest", low) if below[place] else ("largest", high)
    call = described(seen.plan, member, seen.function)
    clause = f"an entry is {{got}}, but the {told} of the values there is {{due}}"
    return contrast(f"for {call}", clause, output[place], bound[place])


def _hull(group: Group, seen: Observations) -> str | None:
    return leaves_range(group, seen)


def _equals(group: Group, seen: Observations, wanted: Floats) -> str | None:
    (member,) = group.members
    output, slack = seen.values(member), seen.expected(member).slack
    return apart(seen, [member], output, np.broadcast_to(wanted, output.shape), slack)


def _constant(group: Group, seen: Observations) -> str | None:
    return _equals(group, seen, _values_of(group, seen)[..., :1, :])


def _mean(group: Group, seen: Observations) -> str | None:
    return _equals(group, seen, _values_of(group, seen).mean(axis=-2, keepdims=True))


def _zeros(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    rows = seen.values(member)[..., list(group.data["rows"]), :]
    wrong = rows[~(rows == 0)]
    if not wrong.size:
        return None
    call = described(seen.plan, member, seen.function)
    return contrast(f"for {call}", "such a row holds {got} instead of {due}", wrong[0], 0)


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
