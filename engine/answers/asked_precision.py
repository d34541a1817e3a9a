"""How exactly a numeric field asks for its key, which interval counts as right, and what lies in it.

A student who rounds every intermediate as the stem allows must get full marks.  The interval is therefore
half a unit of the last place, widened by how far those roundings can move the key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import Any

from engine.answers.base import FieldContext, PartSettings
from engine.draws import ImpossibleDraw
from engine.errors import ExpressionError, UndefinedValueError
from engine.expressions.precision import rounding_slack
from engine.expressions.values import (
    Interval,
    array_of,
    decimal_of,
    interval,
    is_on_grid,
    place_of,
    unit,
    whole_interval,
)
from engine.model import FloatArray, KnownWrong

# Where an item doesn't state its working precision: two decimals more than it asks for, so that rounding on
# the way rarely reaches the last place asked for.
EXTRA_DECIMALS = 2


@dataclass(frozen=True, slots=True)
class NumericSettings(PartSettings):
    """Settings of number, vector and matrix fields.

    Parameters
    ----------
    decimals, significant : int or None
        What the stem asks for; at most one is stated.
    working_decimals : int or None
        To which every intermediate may be rounded.
    tolerance : str or None
        Stated distance from the key, as a decimal text.
    places : tuple of int or None
        Decimal place to which each entry is asked; None means exactly.
    lower, upper : tuple of str
        The interval that counts as right for each entry, as decimal texts.
    exact : tuple of bool
        See :class:`engine.answers.base.FieldDraft`.
    decimal_comma : bool
        Whether ``0,5`` means one half.
    simplex : bool
        Whether the entries are weights.
    near_credit : float
        Share of the marks for an answer that is off by rounding only.
    partial : str
        ``all``, ``per-entry`` or ``per-row``.
    unit : str or None
        Shown behind the field.
    """

    decimals: int | None = None
    significant: int | None = None
    working_decimals: int | None = None
    tolerance: str | None = None
    places: tuple[int | None, ...] = ()
    lower: tuple[str, ...] = ()
    upper: tuple[str, ...] = ()
    exact: tuple[bool, ...] = ()
    decimal_comma: bool = False
    simplex: bool = False
    near_credit: float = 0.0
    partial: str = "all"
    unit: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the field takes whole numbers only: it asks for 0 decimals, or exactly for a whole key."""
        if self.decimals is not None:
            return self.decimals == 0
        is_exact = self.significant is None and self.tolerance is None
        return is_exact and bool(self.lower) and self.lower == self.upper

    @property
    def grain(self) -> float:
        """One unit of the finest place that the field asks for; a millionth where it asks for none."""
        places = [place for place in self.places if place is not None]
        return 10.0 ** -max(places) if places else 1e-6

    def place(self, value: float) -> int | None:
        """Return the decimal place to which the field would ask for a value."""
        return place_of(value, self.decimals, self.significant)

    def precision_of(self, key: str) -> AskedPrecision:
        """Return how the field asks for the value of a key expression."""
        tolerance = None if self.tolerance is None else Decimal(self.tolerance)
        return AskedPrecision(key, self.decimals, self.significant, self.working_decimals, tolerance)


def numbers(text: str, value: Any) -> FloatArray:
    """Return an expression's value as an array.

    Raises
    ------
    engine.errors.ExpressionError
        It isn't made of numbers.
    engine.errors.UndefinedValueError
        One is infinite or not a number.
    """
    where = f"expression {text[:120]!r}"
    try:
        return array_of(value)
    except ValueError:
        raise UndefinedValueError("the value isn't finite", where=where) from None
    except TypeError as error:
        raise ExpressionError(str(error), where=where) from None


@dataclass(frozen=True, slots=True)
class AskedPrecision:
    """How exactly a field asks for its key; follow-through asks again with other numbers."""

    key: str
    decimals: int | None = None
    significant: int | None = None
    working_decimals: int | None = None
    tolerance: Decimal | None = None

    def places(self, key: FloatArray) -> tuple[int | None, ...]:
        """Return the decimal place to which each entry is asked; None means exactly.

        Raises
        ------
        ImpossibleDraw
            No place is stated, and the key isn't whole.
        """
        places = tuple(place_of(value, self.decimals, self.significant) for value in key.data)
        if None in places and self.tolerance is None and any(value != round(value) for value in key.data):
            raise ImpossibleDraw("the key isn't whole: state decimals, significant or tolerance")
        return places

    @property
    def is_whole(self) -> bool:
        """Whether the field takes whole numbers only."""
        return self.decimals == 0

    def slack(self, key: FloatArray, context: FieldContext) -> tuple[float, ...]:
        """Return for each entry how far rounding every intermediate can move it.

        Raises
        ------
        engine.errors.ExpressionError
            The hand-work of the key fails.
        """
        working = self._working(self.places(key))
        return rounding_slack(self.key, context.names, context.derived, working, context.carried)

    def _working(self, places: Sequence[int | None]) -> int:
        if self.working_decimals is not None:
            return self.working_decimals
        return max(0, max((place for place in places if place is not None), default=0) + EXTRA_DECIMALS)

    def half_widths(self, key: FloatArray, context: FieldContext) -> tuple[Decimal, ...]:
        """Return for each entry how far a right answer may lie from the key.

        A whole number is right or not: only a stated tolerance makes room for its neighbours.

        Raises
        ------
        engine.errors.ExpressionError
            The hand-work of the key fails.
        """
        if self.tolerance is not None:
            return (self.tolerance,) * len(key.data)
        places = [place for place in self.places(key) if place is not None]
        if not places or self.is_whole:
            return (Decimal(0),) * len(key.data)
        working, slack = self._working(places), self.slack(key, context)
        return tuple(_half_width(place, working, moved) for place, moved in zip(places, slack, strict=True))

    def intervals(self, key: FloatArray, context: FieldContext) -> tuple[Interval, ...]:
        """Return for each entry the interval that is shown and graded."""
        halves, places = self.half_widths(key, context), self.places(key)
        if self.is_whole:
            return tuple(whole_interval(x, half) for x, half in zip(key.data, halves, strict=True))
        return tuple(
            interval(x, half, place) for x, half, place in zip(key.data, halves, places, strict=True)
        )

    def exact(self, key: FloatArray, halves: Sequence[Decimal]) -> tuple[bool, ...]:
        """Return for each entry whether nobody loses anything on the way to it and by writing it down.

        Such an entry lies at the places asked for, and so does every intermediate at the working precision;
        its half width is that of rounding alone.
        """
        if self.tolerance is not None:
            return tuple(self.is_whole and is_on_grid(x, 0) for x in key.data)
        return tuple(
            is_on_grid(x, place) and half <= (0 if self.is_whole else unit(place) / 2)
            for x, place, half in zip(key.data, self.places(key), halves, strict=True)
            if place is not None
        ) or (True,) * len(key.data)  # nothing is rounded where no place is asked for


def _half_width(place: int, working: int, slack: float) -> Decimal:
    half_unit = unit(place) / 2
    # 12 digits: enough for any interval that is shown, and without the float's own noise behind them
    moved = Decimal(format(slack, ".12g"))
    # Who works no finer than asked rounds only once: the two errors don't add up.
    return max(half_unit, moved) if working <= place else half_unit + moved


# What was typed is compared exactly, as a fraction with decimal bounds. That costs ten times what floats
# cost; so floats decide wherever the two are further apart than a few rounding errors.

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
    """Return whether a number lies in a closed interval.

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
    """Return whether a number lies within one unit of the last place of the key, rounded to that place."""
    if place is None:
        return False
    step = 10.0**-place
    # Near is at most a unit from the rounded key, which is at most half a unit from the middle: beyond three
    # units no exact arithmetic is needed.
    if abs(entry.numerator / entry.denominator - (float(low) + float(high)) / 2) > 3 * step:
        return False
    return _is_near_exactly(entry, Fraction(low), Fraction(high), place)


def _is_near_exactly(entry: Fraction, low: Fraction, high: Fraction, place: int) -> bool:
    exact_step = Fraction(unit(place))
    key = round((low + high) / 2 / exact_step) * exact_step
    return abs(entry - key) <= exact_step


def is_written_as(value: float, entry: Fraction) -> bool:
    """Return whether an entry is a value, rounded or cut off at the places that the entry shows."""
    place = next((k for k in range(_MOST_PLACES) if 10**k % entry.denominator == 0), _MOST_PLACES)
    return abs(Fraction(decimal_of(value)) - entry) < Fraction(unit(place))


def floats_of(entries: Sequence[Fraction]) -> list[float]:
    """Return exact numbers as the floats next to them; quicker than ``float()``, and equal to it."""
    return [entry.numerator / entry.denominator for entry in entries]


class EnteredNumbers:
    """What was entered in a field, exactly and as floats, beside the bounds of its entries.

    Parameters
    ----------
    settings : NumericSettings
    exact : sequence of Fraction
        The entries in C order.
    """

    __slots__ = ("_half_unit", "_reaches", "exact", "floats", "settings")

    def __init__(self, settings: NumericSettings, exact: Sequence[Fraction]) -> None:
        self.settings = settings
        self.exact = exact
        self.floats = floats_of(exact)
        # None where each value has a place of its own.
        self._half_unit = _half_unit(settings, 0.0) if settings.significant is None else None
        self._reaches: list[float] | None = None

    def are_right(self) -> list[bool]:
        """Return for each entry whether it lies in its interval."""
        bounds = zip(self.exact, self.floats, self.settings.lower, self.settings.upper, strict=True)
        return [within(*bound) for bound in bounds]

    def are_near(self, right: Sequence[bool]) -> list[bool]:
        """Return for each entry whether it misses by rounding at most; whole numbers never nearly do."""
        settings = self.settings
        if settings.is_whole:
            return list(right)
        bounds = zip(self.exact, settings.lower, settings.upper, settings.places, strict=True)
        return [is_right or is_near(*bound) for is_right, bound in zip(right, bounds, strict=True)]

    def mistakes(self, known: Iterable[tuple[KnownWrong, FloatArray]]) -> list[KnownWrong]:
        """Return the known mistakes that gave these entries, at the item's rounding."""
        if self._reaches is None:
            self._reaches = self._float_reaches()
        first, far = self.floats[0], inf
        if self._half_unit is not None:
            # Most mistakes are seen to be others at the first entry: the doubt of floats is far below this.
            far = 2 * (max(self._reaches[0], self._half_unit) + _DOUBT * (1.0 + abs(first)))
        return [
            mistake
            for mistake, value in known
            if abs(value.data[0] - first) <= far and self.equal(value.data)
        ]

    def equal(self, wrong: Sequence[float]) -> bool:
        """Return whether the entries equal what a known mistake gives, at the item's rounding."""
        roughly = self._equal_roughly(wrong)
        return _equals_exactly(self.settings, wrong, self.exact) if roughly is None else roughly

    def _equal_roughly(self, wrong: Sequence[float]) -> bool | None:
        """Return what floats say, which suffices for most answers; None where an entry lies near the edge."""
        if self._reaches is None:  # once for all known mistakes
            self._reaches = self._float_reaches()
        is_equal: bool | None = True
        for value, typed, reach in zip(wrong, self.floats, self._reaches, strict=True):
            half_unit = _half_unit(self.settings, value) if self._half_unit is None else self._half_unit
            reach = half_unit if half_unit > reach else reach
            gap, doubt = abs(value - typed), _DOUBT * max(1.0, abs(value), abs(typed))
            if gap > reach + doubt:
                return False
            if gap > reach - doubt:
                is_equal = None
        return is_equal

    def _float_reaches(self) -> list[float]:
        lower, upper = map(float, self.settings.lower), map(float, self.settings.upper)
        widths = [(high - low) / 2 for low, high in zip(lower, upper, strict=True)]
        if len(widths) != len(self.floats):
            widths = [max(widths, default=0.0)] * len(self.floats)
        return [max(w, _CLOSE, _CLOSE * abs(typed)) for w, typed in zip(widths, self.floats, strict=True)]


def _half_unit(settings: NumericSettings, value: float) -> float:
    place = settings.place(value)
    return 0.0 if place is None else 0.5 * 10.0**-place


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
