"""Properties of hard alignments: one 1 in each row, at the row's largest weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.code.case import Group
from engine.code.differing import Evidence, contrast
from engine.code.observe import Observations
from engine.code.properties.catalogue import Property
from engine.code.show import described, number

__all__ = ["PROPERTIES"]


def _one_hot(group: Group, seen: Observations) -> str | None:
    (member,) = group.members
    rows = seen.values(member)
    for row in rows:
        if np.count_nonzero(row == 1) != 1 or np.count_nonzero(row) != 1:
            call = described(seen.plan, member, seen.function)
            shown = _row(row)
            return Evidence(f"for {call} a row is {shown}", shown, "a single 1 and zeros")
    return None


def _largest(group: Group, seen: Observations) -> str | None:
    """Judge that every 1 stands at one of its row's largest weights."""
    (member,) = group.members
    rows, weights = seen.values(member), np.asarray(seen.plan.cases[member].args[0], dtype=np.float64)
    top = weights == weights.max(axis=-1, keepdims=True)
    wrong = (rows == 1) & ~top
    if not wrong.any():
        return None
    row, column = (int(index) for index in np.argwhere(wrong)[0])
    call = described(seen.plan, member, seen.function)
    clause = f"a 1 stands in row {row} at the weight {{got}}, where the largest is {{due}}"
    return contrast(f"for {call}", clause, weights[row, column], weights[row].max())


def _row(row: NDArray[np.float64]) -> str:
    """Return a row with as many digits as it takes to see that it isn't one-hot."""
    for digits in (6, 9, 12):
        shown = [number(value, digits) for value in row[:8]]
        if sorted(shown) != ["0"] * (len(shown) - 1) + ["1"]:
            break
    more = ", …" if len(row) > 8 else ""
    return f"[{', '.join(shown)}{more}]"


PROPERTIES = (
    Property("one-hot", "a single 1 in each row", "Each row must hold a single 1 and zeros.", _one_hot),
    Property(
        "at-largest",
        "the 1 stands at the largest weight",
        "The 1 of a row must stand at its largest weight.",
        _largest,
    ),
)
