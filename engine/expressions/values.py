"""Drawn decimal strings, float64 arrays and the model's arrays, and the ways between them.

A *value* of an expression is a float64 or boolean array, an ``int``, ``float``, ``bool`` or
``str``, or a tuple of ``int`` or ``str`` (a sequence of tokens).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Any, TypeAlias

import numpy as np

from engine.errors import UndefinedValueError
from engine.model import DrawnValue, FloatArray
from reference.tangents import TangentArray, plain

Array: TypeAlias = Any  # ndarray, numpy's scalar, or TangentArray

# Far above what float64 loses in the operations of an exercise (some 1e-15 of the value each), and far below
# any step in which parameters are drawn.
_NEAR_JUMP = 1e-9


_ARRAYS = (np.ndarray, np.generic, TangentArray)
_FLOAT64 = np.dtype(np.float64)


def is_tensor(value: object) -> bool:
    """Return whether `value` is an array; one number of an array counts as one without axes."""
    return isinstance(value, _ARRAYS)


def as_tensor(value: Any) -> Array:
    """Return a float64 array of a number, a nested list of numbers, or an array.

    Raises
    ------
    TypeError
        `value` is a word or holds one, or its rows differ in length.
    """
    if isinstance(value, _ARRAYS):
        return value if value.dtype == _FLOAT64 else plain(value).astype(np.float64)
    if isinstance(value, str):
        raise TypeError(f"expected numbers, got the word {value[:40]!r}")
    try:
        return np.array(_floats(value), dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise TypeError(f"expected numbers in rows of one length: {error}") from None


def _floats(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_floats(entry) for entry in value]
    if isinstance(value, str):
        raise TypeError(f"got the word {value[:40]!r}")
    return float(value)


def away_from_jump(name: str, distance: Any, argument: Any) -> None:
    """Refuse numbers so near to a jump that a rounding error of a float decides on which side they lie.

    ``log(1000) / log(10)`` is 2.9999999999999996, of which ``floor`` would make 2.

    Parameters
    ----------
    name : str
        The function or comparison that jumps.
    distance : array, float or int
        How far each number lies from its nearest jump; exactly 0 is no doubt.
    argument : array, float or int
        The numbers themselves, for their size.

    Raises
    ------
    engine.errors.UndefinedValueError
        Some number lies within 1e-9 of a jump, relative to its size, but not on it.
    """
    if not is_tensor(distance):
        doubtful = 0 < abs(distance) <= _NEAR_JUMP * max(1.0, abs(argument))
    else:
        far = abs(plain(distance))
        doubtful = bool(((far > 0) & (far <= _NEAR_JUMP * np.maximum(abs(plain(argument)), 1.0))).any())
    if doubtful:
        raise UndefinedValueError(
            f"{name} is taken so near to a jump that a rounding error decides",
            expected=f"{name} stays away from its jumps, by more than 1e-9 of the value",
            next_step="round the argument first, or compute it in whole numbers",
        )


def as_float(value: Any) -> float:
    """Return one number as a float.

    Raises
    ------
    TypeError
        `value` isn't a number or an array of one entry.
    """
    if is_tensor(value):
        if value.size != 1:
            raise TypeError(f"expected one number, got shape {value.shape}")
        return float(plain(value).item())
    if isinstance(value, int | float | Decimal):
        return float(value)
    raise TypeError(f"expected one number, got {type(value).__name__}")


def value_of(parameter: DrawnValue) -> Any:
    """Return a drawn parameter as a value: word, int, float or float64 array."""
    if parameter.text:
        return parameter.entries[0] if parameter.shape == () else parameter.entries
    if parameter.shape == ():
        entry = parameter.entries[0]
        # whole numbers stay integers, so that // and % on them are exact
        return int(entry) if entry.lstrip("-").isdigit() else float(entry)
    numbers = [float(entry) for entry in parameter.entries]
    return np.array(numbers).reshape(parameter.shape)


def names_of(values: Mapping[str, DrawnValue]) -> dict[str, Any]:
    """Return every drawn parameter as a value, by name."""
    return {name: value_of(parameter) for name, parameter in values.items()}


def array_of(value: Any) -> FloatArray:
    """Return numbers as an :class:`engine.model.FloatArray`.

    Raises
    ------
    TypeError
        `value` isn't numeric.
    ValueError
        An entry is infinite or not a number.
    """
    if isinstance(value, bool | int | float):
        array = FloatArray((), (float(value),))
    elif is_tensor(value):
        # a boolean array holds no floats
        entries = plain(value).ravel().tolist()
        array = FloatArray(value.shape, tuple(entries if value.dtype == _FLOAT64 else map(float, entries)))
    else:
        numbers = as_tensor(value)
        array = FloatArray(numbers.shape, tuple(numbers.ravel().tolist()))
    if not all(map(math.isfinite, array.data)):
        raise ValueError("an entry is infinite or not a number")
    return array


# Rounding, and the interval in which an answer counts as right: exact decimals throughout. A key is a
# float64, of which 12 significant digits count; so 45.8 ± 0.2 accepts 46 although the binary numbers nearest
# to 45.8 and 0.2 don't add up to 46.

# More digits than a float has before and behind the point together, so that nothing but quantize rounds: a
# step that goes on with a student's own value of 1e75 has a key of 76 digits.
_CONTEXT = Context(prec=400)
# What float64 leaves of a difference that is 0: a key of 1e-17 is shown as 0 and not as 0.00000000000000001.
_NOISE = 1e-12
_EXACT = 2.0**53  # up to here every whole number is a float
# In units of the last place: how near to a half the rounding of a key may lie. Closer to
# it, somebody who keeps one digit less may round the other way.
_SAFE_MARGIN = Decimal("0.05")
# Decimals cost five times what floats cost, and floats decide all but the close cases. Up to so many units of
# a place, and so many places, the digits of a float that don't count (5e-12 of it, or 1e-12 beside 0) move it
# by less than the doubt, in units: what lies farther from where a decision changes is decided.
_FEW_UNITS = 1e8
_FEW_PLACES = 8
_DOUBT = 1e-3


def decimal_of(value: float) -> Decimal:
    """Return a float's 12 significant digits, all of a larger whole number; within 1e-12 of 0 it is 0."""
    if 1e12 <= abs(value) < _EXACT and value == int(value):
        return Decimal(int(value))
    return Decimal(0) if abs(value) < _NOISE else Decimal(format(value, ".12g"))


@lru_cache(maxsize=64)
def unit(place: int) -> Decimal:
    """Return one unit of a decimal place: 0.001 for 3, 10 for -1."""
    return Decimal(1).scaleb(-place)


def place_of(value: float, decimals: int | None, significant: int | None) -> int | None:
    """Return the decimal place to which a value is asked, or None where none is stated."""
    if significant is not None:
        magnitude = decimal_of(value)
        return significant - 1 - (magnitude.adjusted() if magnitude else 0)
    return decimals


def decimal_text(value: float, place: int | None) -> str:
    """Return a value rounded to a place (halves to even), or its digits without trailing zeros.

    Zero has no sign.
    """
    if place is None:
        digits = format(value, ".12g")
        if "e" not in digits and "n" not in digits:
            return "0" if digits == "-0" else digits
    elif 0 <= place <= _FEW_PLACES:
        units = abs(value) * 10.0**place
        if units < _FEW_UNITS and abs(units % 1.0 - 0.5) > _DOUBT:
            return format(value if units > 0.5 else 0.0, f".{place}f")
    number = decimal_of(value)
    if place is not None:
        number = number.quantize(unit(place), rounding=ROUND_HALF_EVEN, context=_CONTEXT)
        if place < 0:  # 120 and not 1.2E+2
            number = number.quantize(Decimal(1), context=_CONTEXT)
    else:
        number = number.normalize(_CONTEXT)
    return format(abs(number) if number == 0 else number, "f")


def array_text(array: FloatArray, places: Sequence[int | None]) -> str:
    """Return numbers as people write them: ``0.5``, ``[0.1, 0.2]``, ``[[1, 2], [3, 4]]``."""
    texts = [decimal_text(value, place) for value, place in zip(array.data, places, strict=True)]
    for size in reversed(array.shape):
        texts = ["[" + ", ".join(texts[i : i + size]) + "]" for i in range(0, len(texts), size)]
    return texts[0]


def is_rounding_safe(value: float, place: int) -> bool:
    """Return whether every rounding rule shows the same digits, with 5 % of a unit to spare."""
    units = abs(value) * 10.0**place
    if units < _FEW_UNITS and place <= _FEW_PLACES:
        spare = abs(units % 1.0 - 0.5) - float(_SAFE_MARGIN)
        if abs(spare) > _DOUBT:
            return spare > 0
    scaled = decimal_of(value).scaleb(place, context=_CONTEXT)
    up = scaled.quantize(Decimal(1), rounding=ROUND_HALF_UP, context=_CONTEXT)
    even = scaled.quantize(Decimal(1), rounding=ROUND_HALF_EVEN, context=_CONTEXT)
    fraction = abs(scaled) % 1
    return up == even and abs(fraction - Decimal("0.5")) > _SAFE_MARGIN


def is_on_grid(value: float, place: int | None) -> bool:
    """Return whether rounding to a place loses nothing of a value."""
    if place is None:
        return False
    units = abs(value) * 10.0**place
    if units < _FEW_UNITS and place <= _FEW_PLACES and abs(units - round(units)) > _DOUBT:
        return False
    number = decimal_of(value)
    return number == number.quantize(unit(place), context=_CONTEXT)


@dataclass(frozen=True, slots=True)
class Interval:
    """The closed interval that is shown and graded."""

    lower: Decimal
    upper: Decimal

    def holds(self, value: Fraction) -> bool:
        """Return whether an exact value lies within."""
        return Fraction(self.lower) <= value <= Fraction(self.upper)


def whole_interval(key: float, half_width: Decimal) -> Interval:
    """Return the whole numbers that count as right: nearest to the key, or within the half width."""
    centre = decimal_of(key)
    # a key of 2.5 has two nearest whole numbers
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
    if half_width == 0:
        centre = decimal_of(key)
        return Interval(centre, centre)
    exponent = half_width.as_tuple().exponent if place is None else 0
    digits = max(place or 0, -exponent if isinstance(exponent, int) else 0) + 3
    # rounding outwards never takes a mark from an answer that the exact interval holds
    scale, half = 10.0**digits, float(half_width)
    low, high = (key - half) * scale, (key + half) * scale
    if digits <= _FEW_PLACES and max(-low, high) < _FEW_UNITS:
        bottom, top = floor(low), ceil(high)
        is_clear = min(low - bottom, bottom + 1 - low, top - high, high + 1 - top) > _DOUBT
        if is_clear and bottom and top:  # a zero that is rounded to keeps the sign of where it comes from
            return Interval(Decimal(bottom).scaleb(-digits), Decimal(top).scaleb(-digits))
    centre, grain = decimal_of(key), unit(digits)
    lower = (centre - half_width).quantize(grain, rounding=ROUND_FLOOR, context=_CONTEXT)
    upper = (centre + half_width).quantize(grain, rounding=ROUND_CEILING, context=_CONTEXT)
    return Interval(lower, upper)
