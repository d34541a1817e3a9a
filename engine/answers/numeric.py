"""What number, vector and matrix answers share: intervals, near misses, and known mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from engine.answers.nearness import within
from engine.answers.reading.arrays import Numbers, read_numbers
from engine.answers.reading.numeral import format_error
from engine.answers.result import AnswerType, Graded, listed
from engine.errors import ResponseFormatError
from engine.model import Check, Diagnosis, KnownWrong, Part, Verdict
from engine.plurals import agree, counted
from engine.variants.rounding import decimal_of, place_of, shown, shown_array, unit

__all__ = ["NumericType", "interval_text", "is_simplex", "rounding_id"]

rounding_id = "m-rounding"
_UNITS_NEAR = Fraction(3, 2)
_TINY = Fraction(1, 10**9)
_CLOSE = 1e-9
_DOUBT = 1e-11  # a key counts with 12 significant digits


def _bounds(part: Part) -> list[tuple[Fraction, Fraction]]:
    pairs = zip(part.settings["lower"], part.settings["upper"], strict=True)
    return [(Fraction(low), Fraction(high)) for low, high in pairs]


def interval_text(part: Part) -> str:
    """Return the interval that is graded, entry by entry: shown only with the key."""
    pairs = zip(part.settings["lower"], part.settings["upper"], strict=True)
    return ", ".join(low if low == high else f"{low} to {high}" for low, high in pairs)


class NumericType(AnswerType):
    """Base of the numeric types; each says how it reads a shape and how entries earn credit."""

    def read(self, text: str, part: Part) -> Numbers:
        """Return the numbers in the layout in which they were typed."""
        return read_numbers(text, decimal_comma=bool(part.settings.get("decimal_comma")))

    def fit(self, numbers: Numbers, part: Part) -> tuple[Fraction, ...] | None:
        """Return the entries in C order if the layout fits the field, or else None."""
        raise NotImplementedError

    def wanted(self, part: Part) -> str:
        """Return the shape that is asked for, in words."""
        raise NotImplementedError

    def parse(self, text: str, part: Part) -> tuple[Fraction, ...]:
        """Return the entries as exact fractions in C order.

        Raises
        ------
        ResponseFormatError
            Something isn't a number, or the shape is another one.
        """
        numbers = self.read(text, part)
        entries = self.fit(numbers, part)
        if entries is None:
            raise self._shape_error(numbers, text, part)
        return entries

    def _shape_error(self, numbers: Numbers, text: str, part: Part) -> ResponseFormatError:
        what = f"this is {numbers.shape_words()}, but the field takes {self.wanted(part)}"
        if numbers.has_glued_comma:
            if part.settings.get("decimal_comma"):
                what += (
                    "; a comma between digits is a decimal comma here, so put a blank or ; between entries"
                )
            else:
                what += "; if a comma is meant as a decimal mark, type a point"
        return format_error(what, text, expected=self.wanted(part))

    def judge(self, part: Part, answer: tuple[Fraction, ...]) -> Graded:
        """Judge entries against the intervals; name near misses and known mistakes."""
        right = self.right_entries(part, answer)
        checks = self._simplex_check(part, answer)
        if all(right):
            return Graded(Fraction(1), "Right.", checks=checks)
        near = self._near(part, answer, right)
        fraction = self.credit(part, right, near)
        diagnosis = self._known(part, answer)
        if all(near):
            diagnosis = (*diagnosis, self._rounding(part, right))
        return Graded(fraction, self._message(part, right), diagnosis, checks=checks)

    @staticmethod
    def right_entries(part: Part, answer: Sequence[Fraction]) -> list[bool]:
        """Return for each entry whether it lies in its interval."""
        lower, upper = part.settings["lower"], part.settings["upper"]
        return [
            within(entry, float(entry), low, high)
            for entry, low, high in zip(answer, lower, upper, strict=True)
        ]

    def credit(self, part: Part, right: Sequence[bool], near: Sequence[bool]) -> Fraction:
        """Return the share of the marks, by the item's rule for partial credit."""
        share = Fraction(Decimal(str(part.settings.get("near_credit", 0))))
        return self._group_credit(right, near, share)

    @staticmethod
    def _group_credit(right: Sequence[bool], near: Sequence[bool], share: Fraction) -> Fraction:
        """Return 1 for a group of entries that are all right, the near credit if all are nearly so."""
        return Fraction(1) if all(right) else share if all(near) else Fraction(0)

    def _near(self, part: Part, answer: Sequence[Fraction], right: Sequence[bool]) -> list[bool]:
        """Tell for each entry whether it misses by rounding at most; exact fields know no near miss."""
        fields = zip(part.settings["lower"], part.settings["upper"], part.settings["places"], strict=True)
        return [
            is_right or _is_near(entry, *field)
            for entry, is_right, field in zip(answer, right, fields, strict=True)
        ]

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
        rest = f"{listed(wrong)} {agree(len(wrong), 'are')}n't"
        return f"{hits} of {counted(len(right), 'entry')} {agree(hits, 'are')} right; {rest}."

    def _rounding(self, part: Part, right: Sequence[bool]) -> Diagnosis:
        place = part.settings["places"][0]
        last = "the last digit" if place is None else f"the last place asked for ({unit(place)})"
        wrong = [self.label(part, i) for i, is_right in enumerate(right) if not is_right]
        subject = "Your number" if len(right) == 1 else listed(wrong)
        verb = agree(len(wrong), "miss")
        return Diagnosis(
            rounding_id,
            f"{subject[0].upper()}{subject[1:]} {verb} the right value by about one unit of {last}: this "
            "looks like rounding. Keep more digits until the end, and round only once.",
        )

    # --- known mistakes

    def _known(self, part: Part, answer: Sequence[Fraction]) -> tuple[Diagnosis, ...]:
        """Return every known mistake that gives these numbers; if several do, all are named."""
        key = part.key
        return tuple(
            _matched(wrong)
            for wrong in part.known_wrong
            if wrong.value is not None
            and key is not None
            and wrong.value.shape == key.shape
            and _equals(part, wrong.value.data, answer)
        )

    def observe(self, part: Part, text: str) -> tuple[Diagnosis, ...]:
        """Return the known mistakes that give these numbers in this (other) shape."""
        try:
            numbers = self.read(text, part)
        except ResponseFormatError:
            return ()
        found = []
        for wrong in part.known_wrong:
            if wrong.value is None or part.key is None or wrong.value.shape == part.key.shape:
                continue
            if _has_shape(numbers, wrong.value.shape) and _equals(part, wrong.value.data, numbers.entries):
                found.append(_matched(wrong))
        return tuple(found)

    # --- weights

    def _simplex_check(self, part: Part, answer: Sequence[Fraction]) -> tuple[Check, ...]:
        if not part.settings.get("simplex"):
            return ()
        width = part.key.shape[-1] if part.key is not None and part.key.shape else 1
        rows = [answer[i : i + width] for i in range(0, len(answer), width)]
        faults = list(dict.fromkeys(fault for row in rows for fault in _simplex_faults(part, row)))
        message = " ".join(faults) or "The weights are not negative and sum to 1."
        verdict = Verdict.FAILED if faults else Verdict.PASSED
        return (Check(f"{part.id}-weights", verdict, 0.0, 0.0, message),)

    # --- self-test

    def right_responses(self, part: Part) -> list[str]:
        """Return the key in brackets, with commas, with blanks, with other minus signs."""
        if part.key is None:
            return []
        usual = shown_array(part.key, part.settings["places"])
        return list(dict.fromkeys([usual, *self.notations(usual), usual.replace("-", "\u2212")]))

    def notations(self, usual: str) -> list[str]:
        """Return other ways to type the same."""
        raise NotImplementedError

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        """Return what each known mistake would type."""
        found: list[tuple[str, str | None]] = []
        for wrong in part.known_wrong:
            if wrong.value is not None:
                places = [_place(part, value) for value in wrong.value.data]
                found.append((shown_array(wrong.value, places), wrong.misconception))
        return found

    def rounding_words(self, part: Part) -> str:
        """Return how exactly the field asks, in words."""
        if (decimals := part.settings.get("decimals")) is not None:
            return "whole" if decimals == 0 else f"to {decimals} decimal place{'s' * (decimals > 1)}"
        if (figures := part.settings.get("significant")) is not None:
            return f"to {figures} significant figure{'s' * (figures > 1)}"
        return ""


def _is_near(entry: Fraction, low: str, high: str, place: int | None) -> bool:
    bottom, top, typed = float(low), float(high), float(entry)
    step = 0.0 if place is None else 10.0**-place
    if abs(typed - (bottom + top) / 2) > 2 * max(top - bottom, _UNITS_NEAR * step):
        return False  # far beyond what exact numbers are needed for
    return _is_near_exactly(entry, Fraction(low), Fraction(high), place)


def _is_near_exactly(entry: Fraction, low: Fraction, high: Fraction, place: int | None) -> bool:
    step = None if place is None else Fraction(unit(place))
    centre, half = (low + high) / 2, (high - low) / 2
    is_count = step is not None and step >= 1 and centre.denominator == 1
    reach = half if step is None or is_count else max(2 * half, _UNITS_NEAR * step)
    return abs(entry - centre) <= reach


def _place(part: Part, value: float) -> int | None:
    return place_of(value, part.settings.get("decimals"), part.settings.get("significant"))


def _matched(wrong: KnownWrong) -> Diagnosis:
    observed = "Your answer is what this known mistake gives."
    return Diagnosis(wrong.misconception, f"{observed} {wrong.feedback}".strip())


def _equals(part: Part, wrong: Sequence[float], answer: Sequence[Fraction]) -> bool:
    """Tell whether an answer equals a wrong value at the item's rounding."""
    roughly = _equals_roughly(part, wrong, answer)
    return _equals_exactly(part, wrong, answer) if roughly is None else roughly


def _equals_roughly(part: Part, wrong: Sequence[float], answer: Sequence[Fraction]) -> bool | None:
    """Tell by floats, which suffices for most answers; None where an entry lies near the edge."""
    lower, upper = part.settings["lower"], part.settings["upper"]
    widths = [(float(high) - float(low)) / 2 for low, high in zip(lower, upper, strict=True)]
    widest = max(widths, default=0.0)
    same_size = len(widths) == len(wrong)
    decided: bool | None = True
    for i, (value, entry) in enumerate(zip(wrong, answer, strict=True)):
        place = _place(part, value)
        half_unit = 0.0 if place is None else 0.5 * 10.0**-place
        typed = float(entry)
        reach = max(half_unit, widths[i] if same_size else widest, _CLOSE * max(1.0, abs(typed)))
        gap, doubt = abs(value - typed), _DOUBT * max(1.0, abs(value), abs(typed))
        if gap > reach + doubt:
            return False
        if gap > reach - doubt:
            decided = None
    return decided


def _equals_exactly(part: Part, wrong: Sequence[float], answer: Sequence[Fraction]) -> bool:
    widths = [(high - low) / 2 for low, high in _bounds(part)]
    widest = max(widths, default=Fraction(0))
    same_size = len(widths) == len(wrong)
    for i, (value, entry) in enumerate(zip(wrong, answer, strict=True)):
        place = _place(part, value)
        half_unit = Fraction(unit(place)) / 2 if place is not None else Fraction(0)
        reach = max(half_unit, widths[i] if same_size else widest, _TINY * max(Fraction(1), abs(entry)))
        if abs(Fraction(decimal_of(value)) - entry) > reach:
            return False
    return True


def _has_shape(numbers: Numbers, shape: tuple[int, ...]) -> bool:
    sizes = [len(row) for row in numbers.rows]
    if len(shape) < 2:
        count = shape[0] if shape else 1
        return len(numbers.entries) == count and (len(sizes) == 1 or max(sizes) == 1)
    return len(sizes) == shape[0] and set(sizes) == {shape[1]}


def is_simplex(part: Part, row: Sequence[Fraction]) -> bool:
    """Tell whether a row of numbers can be weights, rounded as the field asks."""
    return not _simplex_faults(part, row)


def _simplex_faults(part: Part, row: Sequence[Fraction]) -> list[str]:
    faults = []
    places = [place for place in part.settings["places"] if place is not None]
    if any(entry < 0 for entry in row):
        faults.append("A weight is negative.")
    # a sum of n rounded weights; what floats add to the error is far below the tiny rest
    reach = len(row) * (10.0 ** -min(places) if places else _CLOSE) / 2 + _CLOSE
    total = sum(map(float, row))
    if abs(total - 1) > reach:
        faults.append(f"The weights sum to {shown(total, max(places, default=6))}, not to 1.")
    return faults
