"""What number, vector and matrix fields share: their draft, intervals, near misses, and known mistakes.

What is graded is the interval that is shown with the key; an answer outside of it may still be recognised:
as off by rounding, or as what a known mistake gives.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from engine.answers.asked_precision import (
    AskedPrecision,
    EnteredNumbers,
    NumericSettings,
    is_written_as,
    numbers,
)
from engine.answers.base import (
    AnswerJudgement,
    AnswerType,
    FieldContext,
    FieldDraft,
    FieldRenderer,
    mistake_diagnosis,
)
from engine.answers.reading_numbers import (
    NumberRows,
    is_usual,
    pointed_thousands,
    read_fitting,
    read_numbers,
    usual_rows,
)
from engine.answers.typed_text import format_error, normal_signs, unpasted, without_asides
from engine.draws import RandomStream, RedrawNeeded
from engine.errors import ExpressionError, ResponseFormatError, UndefinedValueError
from engine.expressions.language import evaluate
from engine.expressions.values import Interval, array_text, decimal_of, decimal_text, is_rounding_safe, unit
from engine.model import Check, Diagnosis, FloatArray, KnownWrong, Part, Verdict
from engine.text.words import agree, count_noun, join_words

if TYPE_CHECKING:
    from engine.items import MatrixAnswer, NumberAnswer, VectorAnswer

NumericAnswer: TypeAlias = "NumberAnswer | VectorAnswer | MatrixAnswer"

rounding_id = "m-rounding"
# What floats add to the error of a sum of weights is far below this.
_CLOSE = 1e-9
# A wrong value that is farther than this from an interval, beyond its width, isn't accepted by any rounding.
_FAR = 1e-6
# Longest answers that are read, so that no pattern sees a novel: names, brackets and line ends around the
# numbers, and for each number its numeral (60 characters at most) with what separates it.
_LONGEST = 400
_LONGEST_ENTRY = 80
# Entries that a message names; more of them say no more.
_MOST_NAMED = 4
_AND = re.compile(r",? (?:and|und|&) ")
_NOTHING = Fraction(0)
_SHAPES = {0: "a number", 1: "a vector", 2: "a matrix"}


class NumericType(AnswerType):
    """Base of the numeric types; each says how it reads a shape and how entries earn credit."""

    is_numeric = True
    is_open = True
    axes: ClassVar[int]
    """How many axes a key has: 0 for a number, 1 for a vector, 2 for a matrix."""

    def key_early(self, answer: NumericAnswer, names: Mapping[str, Any]) -> Any:
        """Return the key; one near a rounding tie is refused before the costly part of the draft."""
        return self._safe_key(answer, names)[0]

    def _safe_key(
        self, answer: NumericAnswer, names: Mapping[str, Any]
    ) -> tuple[Any, FloatArray, AskedPrecision, tuple[int | None, ...]]:
        """Return the key as a value and as an array, how it is asked, and to which places."""
        value = evaluate(answer.key, names)
        key = self._key_array(answer, value)
        precision = AskedPrecision(
            answer.key, answer.decimals, answer.significant, answer.working_decimals, answer.tolerance
        )
        places = precision.places(key)
        for entry, place in zip(key.data, places, strict=True):
            if place is not None and not is_rounding_safe(entry, place):
                raise RedrawNeeded(
                    f"the key stays away from a rounding tie at {count_noun(place, 'decimal')}"
                )
        return value, key, precision, places

    def _key_array(self, answer: NumericAnswer, value: Any) -> FloatArray:
        array = numbers(answer.key, value)
        # A vector of one entry is a number to whoever answers.
        if self.axes == 0 and len(array.data) == 1:
            array = FloatArray((), array.data)
        if len(array.shape) != self.axes:
            got = _SHAPES.get(len(array.shape), f"shape {array.shape}")
            raise ExpressionError(
                f"the key of a {answer.type} field is {got}", where=f"expression {answer.key[:120]!r}"
            )
        return array

    def draft(self, answer: NumericAnswer, context: FieldContext) -> FieldDraft:
        """Draft a numeric field."""
        value, key, precision, places = self._safe_key(answer, context.names)
        intervals = precision.intervals(key, context)
        exact = precision.exact(key, [(span.upper - span.lower) / 2 for span in intervals])
        known = _known_values(context, key, places, intervals)
        # Bounds as decimal texts: floats in stored JSON would shift an interval by their last bit.
        settings = NumericSettings(
            decimals=answer.decimals,
            significant=answer.significant,
            working_decimals=answer.working_decimals,
            tolerance=None if answer.tolerance is None else str(answer.tolerance),
            places=places,
            lower=tuple(str(span.lower) for span in intervals),
            upper=tuple(str(span.upper) for span in intervals),
            exact=exact,
            decimal_comma=answer.decimal_comma,
            simplex=answer.simplex,
            near_credit=answer.near_credit,
            partial=getattr(answer, "partial", "all"),
            unit=getattr(answer, "unit", None),
        )

        def build(renderer: FieldRenderer, stream: RandomStream) -> Part:
            sentences = {m.id: m.feedback for m in context.misconceptions}
            wrong = tuple(
                KnownWrong(name, renderer.feedback(sentences[name], name), value=array)
                for name, array in known
            )
            return Part("", answer.type, 1.0, key=key, known_wrong=wrong, settings=settings.as_json())

        signature = (key.shape, tuple(span.lower for span in intervals))
        halves = tuple(float(span.upper - span.lower) / 2 for span in intervals)
        return FieldDraft(value, signature, build, places, halves, exact)

    def fit(self, rows: NumberRows, part: Part) -> tuple[Fraction, ...] | None:
        """Return the entries in C order if the layout fits the field, or else None."""
        raise NotImplementedError

    def shape_words(self, part: Part) -> str:
        """Return the shape that the field takes, in words."""
        raise NotImplementedError

    def bare(self, text: str, part: Part) -> str:
        """Return an answer in usual signs, without what surrounds its numbers.

        Raises
        ------
        ResponseFormatError
            It is longer than any answer to this field.
        """
        size = len(part.key.data) if part.key is not None else 1
        most = _LONGEST + size * _LONGEST_ENTRY
        if len(text) > most:
            raise format_error(
                f"the answer has {count_noun(len(text), 'character')}; at most {most} are read here",
                text[:60],
                expected=self.shape_words(part),
            )
        return _AND.sub(", ", without_asides(unpasted(normal_signs(text))))

    def parse(self, text: str, part: Part) -> tuple[Fraction, ...]:
        """Return the entries as exact fractions in C order."""
        settings = NumericSettings.of(part)
        # A point in a whole number may separate its thousands.
        if len(text) <= _LONGEST and is_usual(text) and not ("." in text and settings.is_whole):
            entries = self.fit(usual_rows(text), part)
            if entries is not None:
                return entries
        bare = self.bare(text, part)
        rows = read_fitting(
            bare,
            lambda rows: self.fit(rows, part) is not None,
            self.shape_words(part),
            decimal_comma=settings.decimal_comma,
            is_whole=settings.is_whole,
        )
        entries = self.fit(rows, part)
        assert entries is not None, "read_fitting() returns only what fits"
        if settings.is_whole:
            self._require_whole(part, bare, entries)
        return entries

    def _require_whole(self, part: Part, bare: str, entries: Sequence[Fraction]) -> None:
        expected = self.shape_words(part)
        if (pointed := pointed_thousands(bare)) is not None:
            plain = pointed.replace(".", "")
            raise format_error(
                f"the point in {pointed} may be meant to separate thousands: write large numbers without "
                f"separators: {plain}",
                bare,
                expected=expected,
            )
        broken = [i for i, entry in enumerate(entries) if entry.denominator != 1]
        if not broken:
            return
        if len(entries) == 1:
            raise format_error(
                f"this field takes a whole number, and {_plain(entries[0])} isn't one",
                bare,
                expected="a whole number",
            )
        names = [f"{self.label(part, i)} ({_plain(entries[i])})" for i in broken[:_MOST_NAMED]]
        if len(broken) > _MOST_NAMED:
            names.append(f"{len(broken) - _MOST_NAMED} more")
        raise format_error(
            f"this field takes whole numbers; not whole: {join_words(names)}",
            bare,
            expected=f"{expected}, all whole",
        )

    def judge(self, part: Part, answer: tuple[Fraction, ...]) -> AnswerJudgement:
        """Judge entries against the intervals; name near misses and known mistakes."""
        settings = NumericSettings.of(part)
        entered = EnteredNumbers(settings, answer)
        right = entered.are_right()
        checks = (_simplex_check(part, entered),) if settings.simplex else ()
        if all(right):
            return AnswerJudgement(1, "Right.", checks=checks)
        # Near misses earn the item's near credit, if it gives any, and get a sentence on rounding anyway.
        near = entered.are_near(right)
        groups = self._credit_groups(part, settings.partial, right, near)
        hits = sum([all(r) for r, _ in groups])
        fraction = Fraction(hits, len(groups)) if hits else _NOTHING
        if settings.near_credit:
            misses = sum([all(n) for _, n in groups]) - hits  # what is right is near, too
            fraction += Fraction(Decimal(str(settings.near_credit))) * misses / len(groups)
        diagnosis = tuple(map(mistake_diagnosis, entered.mistakes(_mistakes_in_shape(part))))
        if all(near):
            diagnosis = (*diagnosis, self._rounding(part, settings, right))
        return AnswerJudgement(fraction, self._message(part, right), diagnosis, checks=checks)

    @staticmethod
    def right_entries(part: Part, answer: Sequence[Fraction]) -> list[bool]:
        """Return for each entry whether it lies in its interval."""
        return EnteredNumbers(NumericSettings.of(part), answer).are_right()

    def _credit_groups(
        self, part: Part, partial: str, right: Sequence[bool], near: Sequence[bool]
    ) -> Sequence[tuple[Sequence[bool], Sequence[bool]]]:
        """Return the groups of entries that earn credit together; all of them, or each one alone."""
        if partial == "per-entry":
            return [([r], [n]) for r, n in zip(right, near, strict=True)]
        return [(right, near)]

    def label(self, part: Part, index: int) -> str:
        """Return how one entry is called, from its position in C order."""
        return f"entry {index + 1}"

    def _message(self, part: Part, right: Sequence[bool]) -> str:
        if len(right) == 1:
            return "Not right."
        wrong = [self.label(part, i) for i, is_right in enumerate(right) if not is_right]
        if len(wrong) == len(right):
            return "No entry is right."
        hits = len(right) - len(wrong)
        rest = f"{join_words(wrong)} {agree(len(wrong), 'are')}n't"
        return f"{hits} of {count_noun(len(right), 'entry')} {agree(hits, 'are')} right; {rest}."

    def _rounding(self, part: Part, settings: NumericSettings, right: Sequence[bool]) -> Diagnosis:
        place = settings.places[0]
        last = "the last digit" if place is None else f"the last place asked for ({unit(place)})"
        wrong = [self.label(part, i) for i, is_right in enumerate(right) if not is_right]
        subject = "Your number" if len(right) == 1 else join_words(wrong)
        verb = agree(len(wrong), "miss")
        return Diagnosis(
            rounding_id,
            f"{subject[0].upper()}{subject[1:]} {verb} the right value by about one unit of {last}: this "
            "looks like rounding. Keep more digits until the end, and round only once.",
        )

    def observe(self, part: Part, text: str) -> tuple[Diagnosis, ...]:
        """Return the known mistakes that give these numbers in another shape, or rounded to whole ones."""
        settings = NumericSettings.of(part)
        shape = None if part.key is None else part.key.shape
        others = [
            (known, known.value)
            for known in part.known_wrong
            if shape is not None and known.value is not None and known.value.shape != shape
        ]
        in_shape = _mistakes_in_shape(part) if settings.is_whole else []
        if not others and not in_shape:  # nothing can be said, so that nothing is read again
            return ()
        try:
            rows = read_numbers(self.bare(text, part), decimal_comma=settings.decimal_comma)
        except ResponseFormatError:
            return ()
        entries = rows.entries
        if settings.is_whole and self.fit(rows, part) is not None:
            if all(entry.denominator == 1 for entry in entries):
                return ()
            return tuple(
                mistake_diagnosis(known)
                for known, value in in_shape
                if all(map(is_written_as, value.data, entries))
            )
        in_layout = [(known, value) for known, value in others if rows.has_shape(value.shape)]
        return tuple(map(mistake_diagnosis, EnteredNumbers(settings, entries).mistakes(in_layout)))

    def interval_text(self, part: Part) -> str:
        """Return the interval that is graded, entry by entry: shown only with the key."""
        settings = NumericSettings.of(part)
        pairs = zip(settings.lower, settings.upper, strict=True)
        return ", ".join(low if low == high else f"{low} to {high}" for low, high in pairs)

    def right_responses(self, part: Part) -> list[str]:
        """Return the key in brackets, with commas, with blanks, with other minus signs."""
        if part.key is None:
            return []
        usual = array_text(part.key, NumericSettings.of(part).places)
        return list(dict.fromkeys([usual, *self.notations(usual), usual.replace("-", "\u2212")]))

    def notations(self, usual: str) -> list[str]:
        """Return other ways to type the same."""
        raise NotImplementedError

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        """Return what each known mistake would type."""
        settings = NumericSettings.of(part)
        return [
            (array_text(known.value, [settings.place(x) for x in known.value.data]), known.misconception)
            for known in part.known_wrong
            if known.value is not None
        ]

    def leeway_words(self, part: Part) -> str:
        """Return how far off every entry may be, where some may by more than one unit of the last place."""
        settings = NumericSettings.of(part)
        if not settings.lower:
            return ""  # nothing is known of this field but its size: a form that wasn't drawn
        if self.rounding_words(part) and None in settings.places:
            return ""
        return _leeway(settings.lower, settings.upper, settings.places)

    def rounding_words(self, part: Part) -> str:
        """Return how exactly the field asks, in words."""
        settings = NumericSettings.of(part)
        if settings.is_whole:
            return "whole"
        if (decimals := settings.decimals) is not None:
            return f"to {count_noun(decimals, 'decimal place')}"
        if (figures := settings.significant) is not None:
            return f"to {count_noun(figures, 'significant figure')}"
        return ""


# asked for the file and for the page of a quiz
@lru_cache(maxsize=256)
def _leeway(lower: tuple[str, ...], upper: tuple[str, ...], places: tuple[int | None, ...]) -> str:
    halves = [(Fraction(high) - Fraction(low)) / 2 for low, high in zip(lower, upper, strict=True)]
    units = [Fraction(0) if place is None else Fraction(unit(place)) for place in places]
    least = min(halves)
    # Within one unit of the last place nothing is said: that is what rounding to it means.
    if least == 0 or not any(half > step for half, step in zip(halves, units, strict=True)):
        return ""
    # Two digits, rounded down so that the sentence stays true.
    exact = Decimal(least.numerator) / Decimal(least.denominator)
    half = exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1), rounding=ROUND_FLOOR).normalize()
    return f"; up to {half:f} off counts as right"


def _known_values(
    context: FieldContext, key: FloatArray, places: Sequence[int | None], intervals: Sequence[Interval]
) -> list[tuple[str, FloatArray]]:
    """Return what each misconception gives; one without a value for these numbers is left out."""
    values = []
    # Most wrong values lie far off: beyond these distances no exact fractions are needed to see it.
    near = [
        (
            float(span.lower),
            2 * float(span.upper - span.lower) + (0.0 if place is None else 10.0**-place) + _FAR,
        )
        for span, place in zip(intervals, places, strict=True)
    ]
    for misconception in context.misconceptions:
        try:
            array = numbers(misconception.expr, evaluate(misconception.expr, context.names))
        except UndefinedValueError:  # this mistake divides by zero here, say: nobody can have made it
            continue
        if len(array.data) == 1 and key.shape == ():
            array = FloatArray((), array.data)
        is_near = array.shape == key.shape and all(
            abs(value - low) <= reach for value, (low, reach) in zip(array.data, near, strict=True)
        )
        if is_near and _would_pass(array, places, intervals):
            raise RedrawNeeded(f"{misconception.id} gives another answer than the key")
        values.append((misconception.id, array))
    return values


def _would_pass(wrong: FloatArray, places: Sequence[int | None], intervals: Sequence[Interval]) -> bool:
    """Return whether a wrong value would be accepted, as it is or as it is written down."""
    exact = [Fraction(decimal_of(value)) for value in wrong.data]
    written = [Fraction(decimal_text(value, place)) for value, place in zip(wrong.data, places, strict=True)]
    return any(
        all(span.holds(value) for span, value in zip(intervals, values, strict=True))
        for values in (exact, written)
    )


def _mistakes_in_shape(part: Part) -> list[tuple[KnownWrong, FloatArray]]:
    """Return the known mistakes whose values have the key's shape."""
    shape = None if part.key is None else part.key.shape
    return [(known, v) for known in part.known_wrong if (v := known.value) is not None and v.shape == shape]


def _plain(value: Fraction) -> str:
    # A numeral of at most nine decimals is shown as such; 1/3 stays the fraction that was typed.
    return decimal_text(float(value), None) if 10**9 % value.denominator == 0 else str(value)


def _simplex_check(part: Part, entered: EnteredNumbers) -> Check:
    width = part.key.shape[-1] if part.key is not None and part.key.shape else 1
    weights = entered.floats
    faults: dict[str, None] = {}  # each one once, in order
    for start in range(0, len(weights), width):
        faults.update(dict.fromkeys(simplex_faults(entered.settings, weights[start : start + width])))
    message = " ".join(faults) or "The weights are not negative and sum to 1."
    verdict = Verdict.FAILED if faults else Verdict.PASSED
    return Check(f"{part.id}-weights", verdict, 0.0, 0.0, message)


def simplex_faults(settings: NumericSettings, row: Sequence[float]) -> list[str]:
    """Return why a row of numbers can't be weights, rounded as the field asks; empty if it can."""
    faults = []
    places = [place for place in settings.places if place is not None]
    if min(row) < 0:
        faults.append("A weight is negative.")
    # Each of n rounded weights is off by half a unit at most, and so is their sum by n times that.
    reach = len(row) * (10.0 ** -min(places) if places else _CLOSE) / 2 + _CLOSE
    total = sum(row)
    if abs(total - 1) > reach:
        faults.append(f"The weights sum to {decimal_text(total, max(places, default=6))}, not to 1.")
    return faults
