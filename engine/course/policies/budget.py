"""Late days that a student may use up."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

__all__ = ["days_to_use"]


def days_to_use(left: int, most: int, points: Callable[[int], Fraction]) -> int:
    """Return how many late days to use for an assignment: the fewest that give the most points.

    Parameters
    ----------
    left : int
        Days that the student still has.
    most : int
        Days by which the latest attempt is late.
    points : callable
        Days used → points of the assignment; never falling.
    """
    days = min(left, most)
    # More days never harm, so all of them give the most; then the fewest that give as much.
    while days and points(days - 1) == points(days):
        days -= 1
    return days
