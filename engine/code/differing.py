"""Where two results part, as a clause for the student: what most properties come to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.code.observe import Observations
from engine.code.show import described, number_pair, worst_place
from engine.code.tolerance import close

__all__ = ["apart", "part_apart", "total_slack"]

Floats = NDArray[np.float64]


def total_slack(seen: Observations, members: Sequence[int], part: int = 0) -> float:
    """Return how far one part of the results of these cases may lie apart that is equal in theory."""
    return sum(seen.expected(member).parts[part].slack for member in members)


def apart(
    seen: Observations,
    members: Sequence[int],
    got: Floats,
    wanted: Floats,
    slack: float,
    *,
    noun: str = "an entry",
) -> str | None:
    """Return None if two arrays of one shape agree within `slack`, else where they part most.

    Parameters
    ----------
    seen : Observations
    members : sequence of int
        The case that the result is of, or the two cases that were to agree.
    got, wanted : ndarray
    slack : float
        Absolute; NaN agrees with nothing.
    noun : str
        What an entry is called.
    """
    if close(got, wanted, slack):
        return None
    worst = worst_place(np.abs(got - wanted))
    found, right = number_pair(got[worst], wanted[worst])
    calls = [described(seen.plan, member, seen.function) for member in members]
    place = f"between {calls[0]} and {calls[1]}" if len(calls) > 1 else f"for {calls[0]}"
    return f"{place} {noun} is {found} instead of {right}"


def part_apart(seen: Observations, members: Sequence[int], part: int, wanted: Floats) -> str | None:
    """Return where one part of the last case's result differs from what the cases before it lead to."""
    noun = f"an entry of {seen.expected(members[-1]).result.parts[part]}"
    slack = total_slack(seen, members, part)
    return apart(seen, members[-2:], seen.values(members[-1], part), wanted, slack, noun=noun)
