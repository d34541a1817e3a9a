"""Exact comparisons of typed numbers, decided by floats wherever those leave no doubt.

A typed number is a :class:`~fractions.Fraction`, an interval's bound a decimal text.  Comparing them exactly
costs ten times what floats cost, and is needed only where the two are within a few rounding errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from engine.answers.asked_precision import NumericSettings
from engine.expressions.values import decimal_of, unit

__all__ = ["equals_mistake", "is_near", "is_written_as", "within"]

# A float differs from the number it stands for by a relative 1.1e-16; sums of two or three of them by a few
# times that. A hundred times as much leaves no doubt.
_SLACK = 1e-13
# A mistake's value equals an answer that agrees to nine digits, whatever the field asks for: nobody types
# more from a calculator.
_CLOSE = 1e-9
_TINY = Fraction(1, 10**9)
# A key counts with 12 significant digits, so that floats say nothing beyond the eleventh.
_DOUBT = 1e-11
# More decimals than any field asks for: what is typed with more of them counts as cut off there.
_MOST_PLACES = 6


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
    doubt = _SLACK * (abs(typed) + abs(bottom) + abs(top))
    if bottom + doubt < typed < top - doubt:
        return True
    if typed < bottom - doubt or typed > top + doubt:
        return False
    return Fraction(low) <= entry <= Fraction(high)


def is_near(entry: Fraction, low: str, high: str, place: int | None) -> bool:
    """Tell whether a number lies within one unit of the last place of the key, rounded to that place."""
    if place is None:
        return False
    step = 10.0**-place
    # Near is at most a unit from the rounded key, which is at most half a unit from the middle: beyond three
    # units no exact arithmetic is needed.
    if abs(float(entry) - (float(low) + float(high)) / 2) > 3 * step:
        return False
    return _is_near_exactly(entry, Fraction(low), Fraction(high), place)


def _is_near_exactly(entry: Fraction, low: Fraction, high: Fraction, place: int) -> bool:
    exact_step = Fraction(unit(place))
    key = round((low + high) / 2 / exact_step) * exact_step
    return abs(entry - key) <= exact_step


def is_written_as(value: float, entry: Fraction) -> bool:
    """Tell whether an entry is a value, rounded or cut off at the places that the entry shows."""
    place = next((k for k in range(_MOST_PLACES) if 10**k % entry.denominator == 0), _MOST_PLACES)
    return abs(Fraction(decimal_of(value)) - entry) < Fraction(unit(place))


def equals_mistake(settings: NumericSettings, wrong: Sequence[float], answer: Sequence[Fraction]) -> bool:
    """Tell whether an answer equals what a known mistake gives, at the item's rounding."""
    roughly = _equals_roughly(settings, wrong, answer)
    return _equals_exactly(settings, wrong, answer) if roughly is None else roughly


def _equals_roughly(
    settings: NumericSettings, wrong: Sequence[float], answer: Sequence[Fraction]
) -> bool | None:
    """Tell by floats, which suffices for most answers; None where an entry lies near the edge."""
    widths = [
        (float(high) - float(low)) / 2 for low, high in zip(settings.lower, settings.upper, strict=True)
    ]
    widest = max(widths, default=0.0)
    same_size = len(widths) == len(wrong)
    is_equal: bool | None = True
    for i, (value, entry) in enumerate(zip(wrong, answer, strict=True)):
        place = settings.place(value)
        half_unit = 0.0 if place is None else 0.5 * 10.0**-place
        typed = float(entry)
        reach = max(half_unit, widths[i] if same_size else widest, _CLOSE * max(1.0, abs(typed)))
        gap, doubt = abs(value - typed), _DOUBT * max(1.0, abs(value), abs(typed))
        if gap > reach + doubt:
            return False
        if gap > reach - doubt:
            is_equal = None
    return is_equal


def _equals_exactly(settings: NumericSettings, wrong: Sequence[float], answer: Sequence[Fraction]) -> bool:
    widths = [
        (Fraction(high) - Fraction(low)) / 2 for low, high in zip(settings.lower, settings.upper, strict=True)
    ]
    widest = max(widths, default=Fraction(0))
    same_size = len(widths) == len(wrong)
    for i, (value, entry) in enumerate(zip(wrong, answer, strict=True)):
        place = settings.place(value)
        half_unit = Fraction(unit(place)) / 2 if place is not None else Fraction(0)
        reach = max(half_unit, widths[i] if same_size else widest, _TINY * max(Fraction(1), abs(entry)))
        if abs(Fraction(decimal_of(value)) - entry) > reach:
            return False
    return True
