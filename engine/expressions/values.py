"""Rounding, and the interval in which an answer counts as right: exact decimals throughout.

A key is a float64, of which 12 significant digits count; so 45.8 ± 0.2 accepts 46 although the
binary numbers nearest to 45.8 and 0.2 don't add up to 46.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

from engine.model import Array

__all__ = [
    "Interval",
    "decimal_of",
    "interval",
    "is_on_grid",
    "is_rounding_safe",
    "place_of",
    "shown",
    "shown_array",
    "unit",
    "whole_interval",
]

_CONTEXT = Context(prec=60)
_NOISE = 1e-12
_EXACT = 2.0**53  # up to here every whole number is a float
_SAFE_MARGIN = Decimal("0.05")


def decimal_of(value: float) -> Decimal:
    """Return a float's 12 significant digits, all of a larger whole number; within 1e-12 of 0 it is 0."""
    if 1e12 <= abs(value) < _EXACT and value == int(value):
        return Decimal(int(value))
    return Decimal(0) if abs(value) < _NOISE else Decimal(format(value, ".12g"))


def unit(place: int) -> Decimal:
    """Return one unit of a decimal place: 0.001 for 3, 10 for -1."""
    return Decimal(1).scaleb(-place)


def place_of(value: float, decimals: int | None, significant: int | None) -> int | None:
    """Return the decimal place to which a value is asked, or None where none is stated."""
    if significant is not None:
        magnitude = decimal_of(value)
        return significant - 1 - (magnitude.adjusted() if magnitude else 0)
    return decimals


def shown(value: float, place: int | None) -> str:
    """Return a value rounded to a place (halves to even), or its digits without trailing zeros.

    Zero has no sign.
    """
    number = decimal_of(value)
    if place is not None:
        number = number.quantize(unit(place), rounding=ROUND_HALF_EVEN, context=_CONTEXT)
        if place < 0:
            number = number.quantize(Decimal(1), context=_CONTEXT)
    else:
        number = number.normalize(_CONTEXT)
    return format(abs(number) if number == 0 else number, "f")


def shown_array(array: Array, places: Sequence[int | None]) -> str:
    """Return numbers as people write them: ``0.5``, ``[0.1, 0.2]``, ``[[1, 2], [3, 4]]``."""
    texts = [shown(value, place) for value, place in zip(array.data, places, strict=True)]
    for size in reversed(array.shape):
        texts = ["[" + ", ".join(texts[i : i + size]) + "]" for i in range(0, len(texts), size)]
    return texts[0]


def is_rounding_safe(value: float, place: int) -> bool:
    """Tell whether every rounding rule shows the same digits, with 5 % of a unit to spare."""
    scaled = decimal_of(value).scaleb(place, context=_CONTEXT)
    up = scaled.quantize(Decimal(1), rounding=ROUND_HALF_UP, context=_CONTEXT)
    even = scaled.quantize(Decimal(1), rounding=ROUND_HALF_EVEN, context=_CONTEXT)
    fraction = abs(scaled) % 1
    return up == even and abs(fraction - Decimal("0.5")) > _SAFE_MARGIN


def is_on_grid(value: float, place: int | None) -> bool:
    """Tell whether rounding to a place loses nothing of a value."""
    if place is None:
        return False
    number = decimal_of(value)
    return number == number.quantize(unit(place), context=_CONTEXT)


@dataclass(frozen=True, slots=True)
class Interval:
    """The closed interval that is shown and graded."""

    lower: Decimal
    upper: Decimal

    def holds(self, value: Fraction) -> bool:
        """Tell whether an exact value lies within."""
        return Fraction(self.lower) <= value <= Fraction(self.upper)


def whole_interval(key: float, half_width: Decimal) -> Interval:
    """Return the whole numbers that count as right: nearest to the key, or within the half width."""
    centre = decimal_of(key)
    half = half_width if centre == centre.to_integral_value() else max(half_width, Decimal("0.5"))
    lower = (centre - half).to_integral_value(rounding=ROUND_CEILING)
    upper = (centre + half).to_integral_value(rounding=ROUND_FLOOR)
    return Interval(
        lower.quantize(Decimal(1), context=_CONTEXT), upper.quantize(Decimal(1), context=_CONTEXT)
    )


def interval(key: float, half_width: Decimal, place: int | None) -> Interval:
    """Return key ± half width, the ends rounded outwards to few digits so that they can be shown.

    Parameters
    ----------
    key : float
    half_width : Decimal
        0 for an exact answer.
    place : int or None
        The place asked for; the ends keep three more (or three more than the half width has).
    """
    centre = decimal_of(key)
    exponent = half_width.as_tuple().exponent
    digits = max(place or 0, -exponent if isinstance(exponent, int) and place is None else 0) + 3
    grain = unit(digits)
    if half_width == 0:
        return Interval(centre, centre)
    lower = (centre - half_width).quantize(grain, rounding=ROUND_FLOOR, context=_CONTEXT)
    upper = (centre + half_width).quantize(grain, rounding=ROUND_CEILING, context=_CONTEXT)
    return Interval(lower, upper)
