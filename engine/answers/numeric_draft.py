"""Fields that take numbers: number, vector, matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from engine.answers.answer_type import FieldContext, FieldDraft, FieldRenderer
from engine.draws.parameters import ImpossibleDraw, RedrawNeeded
from engine.draws.stream import RandomStream
from engine.errors import ExpressionError, UndefinedValueError
from engine.expressions.language import evaluate
from engine.expressions.precision import rounding_slack
from engine.expressions.values import (
    Interval,
    array_of,
    decimal_of,
    decimal_text,
    interval,
    is_on_grid,
    is_rounding_safe,
    place_of,
    unit,
    whole_interval,
)
from engine.items import MatrixAnswer, NumberAnswer, VectorAnswer
from engine.model import FloatArray, KnownWrong, Part
from engine.text.words import count_noun

__all__ = ["EXTRA_DECIMALS", "AskedPrecision", "draft", "foresee", "numbers"]

NumericAnswer = NumberAnswer | VectorAnswer | MatrixAnswer

# where an item doesn't state its working precision, two decimals more than it asks for
EXTRA_DECIMALS = 2
_FAR = 1e-6
_AXES = {"number": 0, "vector": 1, "matrix": 2}
_AXES_NAMES = {0: "a number", 1: "a vector", 2: "a matrix"}


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


def _key(answer: NumericAnswer, value: Any) -> FloatArray:
    array = numbers(answer.key, value)
    axes = _AXES[answer.type]
    if axes == 0 and len(array.data) == 1:
        array = FloatArray((), array.data)
    if len(array.shape) != axes:
        got = _AXES_NAMES.get(len(array.shape), f"shape {array.shape}")
        raise ExpressionError(
            f"the key of a {answer.type} field is {got}", where=f"expression {answer.key[:120]!r}"
        )
    return array


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
        return tuple(_half(place, working, moved) for place, moved in zip(places, slack, strict=True))

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
        ) or (True,) * len(key.data)


def _half(place: int, working: int, slack: float) -> Decimal:
    """Return half a unit of the place plus the slack; who works no finer than asked rounds only once."""
    half_unit = unit(place) / 2
    moved = Decimal(format(slack, ".12g"))
    return max(half_unit, moved) if working <= place else half_unit + moved


def _safe_key(
    answer: NumericAnswer, names: Mapping[str, Any]
) -> tuple[Any, FloatArray, AskedPrecision, tuple[int | None, ...]]:
    """Return the key as a value and as an array, how it is asked, and to which places."""
    value = evaluate(answer.key, names)
    key = _key(answer, value)
    asked = AskedPrecision(
        answer.key, answer.decimals, answer.significant, answer.working_decimals, answer.tolerance
    )
    places = asked.places(key)
    for entry, place in zip(key.data, places, strict=True):
        if place is not None and not is_rounding_safe(entry, place):
            raise RedrawNeeded(f"the key stays away from a rounding tie at {count_noun(place, 'decimal')}")
    return value, key, asked, places


def foresee(answer: NumericAnswer, names: Mapping[str, Any]) -> Any:
    """Return a step's key, before the costly part of its draft, so that bad tries end early.

    Raises
    ------
    Redraw, ImpossibleDraw, engine.errors.ExpressionError
        As :func:`draft`.
    """
    return _safe_key(answer, names)[0]


def draft(answer: NumericAnswer, context: FieldContext) -> FieldDraft:
    """Draft a numeric field.

    Raises
    ------
    RedrawNeeded
        The key lies near a rounding tie, or a known mistake gives it.
    ImpossibleDraw, engine.errors.ExpressionError
        The spec is at fault.
    """
    value, key, asked, places = _safe_key(answer, context.names)
    accepted = asked.intervals(key, context)
    exact = asked.exact(key, [(found.upper - found.lower) / 2 for found in accepted])
    known = _known_wrong(context, key, places, accepted)
    settings: dict[str, Any] = {
        "decimals": answer.decimals,
        "significant": answer.significant,
        "working_decimals": answer.working_decimals,
        "tolerance": None if answer.tolerance is None else str(answer.tolerance),
        "places": list(places),
        "lower": [str(found.lower) for found in accepted],
        "upper": [str(found.upper) for found in accepted],
        "exact": list(exact),
        "decimal_comma": answer.decimal_comma,
        "simplex": answer.simplex,
        "near_credit": answer.near_credit,
        "partial": getattr(answer, "partial", "all"),
        "unit": getattr(answer, "unit", None),
    }

    def build(scribe: FieldRenderer, stream: RandomStream) -> Part:
        sentences = {m.id: m.feedback for m in context.misconceptions}
        wrong = tuple(
            KnownWrong(name, scribe.feedback(sentences[name], name), value=array) for name, array in known
        )
        return Part("", answer.type, 1.0, key=key, known_wrong=wrong, settings=settings)

    signature = (key.shape, tuple(found.lower for found in accepted))
    halves = tuple(float(found.upper - found.lower) / 2 for found in accepted)
    return FieldDraft(value, signature, build, places, halves, exact)


def _known_wrong(
    context: FieldContext, key: FloatArray, places: Sequence[int | None], accepted: Sequence[Interval]
) -> tuple[tuple[str, FloatArray], ...]:
    """Return what each misconception gives; one without a value for these numbers is left out."""
    found = []
    for misconception in context.misconceptions:
        try:
            array = numbers(misconception.expr, evaluate(misconception.expr, context.names))
        except UndefinedValueError:
            continue
        if len(array.data) == 1 and key.shape == ():
            array = FloatArray((), array.data)
        if array.shape == key.shape and _passes(array, places, accepted):
            raise RedrawNeeded(f"{misconception.id} gives another answer than the key")
        found.append((misconception.id, array))
    return tuple(found)


def _passes(wrong: FloatArray, places: Sequence[int | None], accepted: Sequence[Interval]) -> bool:
    """Tell whether a wrong value would be accepted, as it is or as it is written down."""
    for value, place, span in zip(wrong.data, places, accepted, strict=True):
        # most wrong values lie far off: no need of exact fractions to see that
        reach = 2 * float(span.upper - span.lower) + (0.0 if place is None else 10.0**-place) + _FAR
        if abs(value - float(span.lower)) > reach:
            return False
    exact = [Fraction(decimal_of(value)) for value in wrong.data]
    written = [Fraction(decimal_text(value, place)) for value, place in zip(wrong.data, places, strict=True)]
    return any(
        all(span.holds(value) for span, value in zip(accepted, values, strict=True))
        for values in (exact, written)
    )
