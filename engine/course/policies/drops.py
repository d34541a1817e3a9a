"""Dropping the lowest of a group."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["dropped"]


def dropped(marks: Sequence[tuple[Fraction, Fraction]], count: int) -> frozenset[int]:
    """Return which marks to leave out, so that the others make the largest share of their full points.

    Parameters
    ----------
    marks : sequence of (Fraction, Fraction)
        Points and full points (more than 0) of each.
    count : int
        How many are left out; one always stays.

    Returns
    -------
    frozenset of int
        Their places. Where all have the same full points these are the lowest.

    Notes
    -----
    With different full points the lowest marks aren't always the ones to drop. The best share q is
    found by Dinkelbach's method: keep those with the largest points - q · full points, take their share
    as the next q, until it stays. It rises each time, and there are finitely many choices.
    """
    count = min(count, len(marks) - 1)
    if count <= 0:
        return frozenset()
    share = Fraction(0)
    while True:
        # Of equal ones the earlier is dropped.
        excess = [points - share * full for points, full in marks]
        order = sorted(range(len(marks)), key=excess.__getitem__)
        kept = [marks[place] for place in order[count:]]
        found = sum((points for points, _ in kept), Fraction(0)) / sum(full for _, full in kept)
        if found <= share:
            return frozenset(order[:count])
        share = found
