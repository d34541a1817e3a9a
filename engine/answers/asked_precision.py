"""How exactly a numeric field asks for its key, and so which interval counts as right.

A student who rounds every intermediate as the stem allows must get full marks.  The interval is therefore
half a unit of the last place, widened by how far those roundings can move the key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from engine.answers.base import FieldContext, PartSettings
from engine.draws.parameters import ImpossibleDraw
from engine.errors import ExpressionError, UndefinedValueError
from engine.expressions.precision import rounding_slack
from engine.expressions.values import (
    Interval,
    array_of,
    interval,
    is_on_grid,
    place_of,
    unit,
    whole_interval,
)
from engine.model import FloatArray

__all__ = ["EXTRA_DECIMALS", "AskedPrecision", "NumericSettings", "numbers"]

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

    def asked(self, key: str) -> AskedPrecision:
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
        """Tell for each entry whether nobody loses anything on the way to it and by writing it down.

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
