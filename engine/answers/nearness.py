"""Exact comparisons of typed numbers, decided by floats wherever those leave no doubt.

A typed number is a :class:`~fractions.Fraction`, an interval's bound a decimal text. Comparing them exactly
costs ten times what floats cost, and is needed only where the two are within a few rounding errors.
"""

from __future__ import annotations

from fractions import Fraction

__all__ = ["within"]

# A float differs from the number it stands for by a relative 1.1e-16; sums of two or three of them by a few
# times that. A hundred times as much leaves no doubt.
_DOUBT = 1e-13


def within(entry: Fraction, typed: float, low: str, high: str) -> bool:
    """Tell whether a number lies in a closed interval.

    Parameters
    ----------
    entry : Fraction
    typed : float
        The same number.
    low, high : str
        The bounds, as decimal texts.
    """
    bottom, top = float(low), float(high)
    doubt = _DOUBT * (abs(typed) + abs(bottom) + abs(top))
    if bottom + doubt < typed < top - doubt:
        return True
    if typed < bottom - doubt or typed > top + doubt:
        return False
    return Fraction(low) <= entry <= Fraction(high)
