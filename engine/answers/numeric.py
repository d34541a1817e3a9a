"""What number, vector and matrix answers share: intervals, near misses, and known mistakes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction

from engine.answers.answer_type import AnswerJudgement, AnswerType
from engine.answers.parsing import (
    NumberRows,
    decided,
    format_error,
    normal_signs,
    pointed_thousands,
    read_numbers,
    without_asides,
    without_count_word,
)
from engine.answers.pasted import unpasted
from engine.errors import ResponseFormatError
from engine.expressions.values import array_text, decimal_of, decimal_text, place_of, unit
from engine.model import Check, Diagnosis, KnownWrong, Part, Verdict
from engine.text.words import agree, count_noun, join_words

__all__ = [
    "Matrix",
    "Number",
    "NumericType",
    "Vector",
    "interval_text",
    "is_simplex",
    "is_whole",
    "rounding_id",
    "within",
]


# ----------------------------------------------------------------------------------------------------
# Exact comparisons of typed numbers, decided by floats wherever those leave no doubt.
#
# A typed number is a :class:`~fractions.Fraction`, an interval's bound a decimal text. Comparing them exactly
# costs ten times what floats cost, and is needed only where the two are within a few rounding errors.

# A float differs from the number it stands for by a relative 1.1e-16; sums of two or three of them by a few
# times that. A hundred times as much leaves no doubt.
_SLACK = 1e-13


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


rounding_id = "m-rounding"
_TINY = Fraction(1, 10**9)
_CLOSE = 1e-9
_LONGEST = 400  # names, brackets and line ends around the numbers
_LONGEST_ENTRY = 80  # a numeral has 60 characters at most
_NAMED = 4  # entries that a message lists
_NAMED_PLACES = 6
_AND = re.compile(r",? (?:and|und|&) ")
_DOUBT = 1e-11  # a key counts with 12 significant digits


def is_whole(part: Part) -> bool:
    """Tell whether a field takes whole numbers only: it asks for 0 decimals, or exactly for a whole key."""
    asked = part.settings.get
    if asked("decimals") is not None:
        return bool(asked("decimals") == 0)
    is_exact = asked("significant") is None and asked("tolerance") is None
    return is_exact and bool(asked("lower")) and asked("lower") == asked("upper")


def _plain(value: Fraction) -> str:
    if 10**9 % value.denominator:
        return str(value)
    return decimal_text(float(value), None)


def _written_as(value: float, entry: Fraction) -> bool:
    """Tell whether an entry is a value, rounded or cut off at the places that the entry shows."""
    place = next((k for k in range(_NAMED_PLACES) if 10**k % entry.denominator == 0), _NAMED_PLACES)
    return abs(Fraction(decimal_of(value)) - entry) < Fraction(unit(place))


def _bounds(part: Part) -> list[tuple[Fraction, Fraction]]:
    pairs = zip(part.settings["lower"], part.settings["upper"], strict=True)
    return [(Fraction(low), Fraction(high)) for low, high in pairs]


def interval_text(part: Part) -> str:
    """Return the interval that is graded, entry by entry: shown only with the key."""
    pairs = zip(part.settings["lower"], part.settings["upper"], strict=True)
    return ", ".join(low if low == high else f"{low} to {high}" for low, high in pairs)


class NumericType(AnswerType):
    """Base of the numeric types; each says how it reads a shape and how entries earn credit."""

    def bare(self, text: str, part: Part) -> str:
        """Return an answer in usual signs, without what stands around its numbers.

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
                expected=self.wanted(part),
            )
        return _AND.sub(", ", without_asides(unpasted(normal_signs(text))))

    def fit(self, numbers: NumberRows, part: Part) -> tuple[Fraction, ...] | None:
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
            Something isn't a number, the shape is another one, or a whole number is asked for.
        """
        bare = self.bare(text, part)
        entries = self._entries(bare, text, part)
        if is_whole(part):
            self._require_whole(part, bare, entries)
        return entries

    def _entries(self, bare: str, text: str, part: Part) -> tuple[Fraction, ...]:
        numbers = decided(
            bare,
            lambda found: self.fit(found, part) is not None,
            self.wanted(part),
            decimal_comma=bool(part.settings.get("decimal_comma")),
            is_whole=is_whole(part),
        )
        entries = self.fit(numbers, part)
        if entries is None:  # decided() gives only what fits
            raise format_error("this doesn't fit the field", text, expected=self.wanted(part))
        return entries

    def _require_whole(self, part: Part, bare: str, entries: Sequence[Fraction]) -> None:
        if (pointed := pointed_thousands(bare)) is not None:
            plain = pointed.replace(".", "")
            raise format_error(
                f"the point in {pointed} may be meant to separate thousands: write large numbers without "
                f"separators: {plain}",
                bare,
                expected=self.wanted(part),
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
        named = [f"{self.label(part, i)} ({_plain(entries[i])})" for i in broken[:_NAMED]]
        if len(broken) > _NAMED:
            named.append(f"{len(broken) - _NAMED} more")
        raise format_error(
            f"this field takes whole numbers; not whole: {join_words(named)}",
            bare,
            expected=f"{self.wanted(part)}, all whole",
        )

    def judge(self, part: Part, answer: tuple[Fraction, ...]) -> AnswerJudgement:
        """Judge entries against the intervals; name near misses and known mistakes."""
        right = self.right_entries(part, answer)
        checks = self._simplex_check(part, answer)
        if all(right):
            return AnswerJudgement(Fraction(1), "Right.", checks=checks)
        near = self._near(part, answer, right)
        fraction = self.credit(part, right, near)
        diagnosis = self._known(part, answer)
        if all(near):
            diagnosis = (*diagnosis, self._rounding(part, right))
        return AnswerJudgement(fraction, self._message(part, right), diagnosis, checks=checks)

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
        """Tell for each entry whether it misses by rounding at most; whole numbers are never nearly right."""
        if is_whole(part):
            return list(right)
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
        rest = f"{join_words(wrong)} {agree(len(wrong), 'are')}n't"
        return f"{hits} of {count_noun(len(right), 'entry')} {agree(hits, 'are')} right; {rest}."

    def _rounding(self, part: Part, right: Sequence[bool]) -> Diagnosis:
        place = part.settings["places"][0]
        last = "the last digit" if place is None else f"the last place asked for ({unit(place)})"
        wrong = [self.label(part, i) for i, is_right in enumerate(right) if not is_right]
        subject = "Your number" if len(right) == 1 else join_words(wrong)
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
            bare = self.bare(text, part)
            numbers = read_numbers(bare, decimal_comma=bool(part.settings.get("decimal_comma")))
        except ResponseFormatError:
            return ()
        if is_whole(part) and self.fit(numbers, part) is not None:
            return self._observe_broken(part, numbers.entries)
        found = []
        for wrong in part.known_wrong:
            if wrong.value is None or part.key is None or wrong.value.shape == part.key.shape:
                continue
            if _has_shape(numbers, wrong.value.shape) and _equals(part, wrong.value.data, numbers.entries):
                found.append(_matched(wrong))
        return tuple(found)

    @staticmethod
    def _observe_broken(part: Part, entries: Sequence[Fraction]) -> tuple[Diagnosis, ...]:
        """Return the known mistakes that give these numbers, of which some aren't whole."""
        if all(entry.denominator == 1 for entry in entries):
            return ()
        return tuple(
            _matched(wrong)
            for wrong in part.known_wrong
            if wrong.value is not None
            and part.key is not None
            and wrong.value.shape == part.key.shape
            and all(map(_written_as, wrong.value.data, entries))
        )

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
        usual = array_text(part.key, part.settings["places"])
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
                found.append((array_text(wrong.value, places), wrong.misconception))
        return found

    def leeway_words(self, part: Part) -> str:
        """Return how far off every entry may be, where some may by more than one unit of the last place."""
        if not {"lower", "upper", "places"} <= part.settings.keys():
            return ""  # nothing is known of this field but its size: a form that wasn't drawn
        halves = [(high - low) / 2 for low, high in _bounds(part)]
        units = [Fraction(0) if place is None else Fraction(unit(place)) for place in part.settings["places"]]
        least = min(halves)
        if self.rounding_words(part) and None in part.settings["places"]:
            return ""
        if least == 0 or not any(half > one for half, one in zip(halves, units, strict=True)):
            return ""
        shown_half = Decimal(least.numerator) / Decimal(least.denominator)
        exponent = shown_half.adjusted() - 1  # two digits, rounded down so that it is true
        half = shown_half.quantize(Decimal(1).scaleb(exponent), rounding=ROUND_FLOOR).normalize()
        return f"; up to {half:f} off counts as right"

    def rounding_words(self, part: Part) -> str:
        """Return how exactly the field asks, in words."""
        if is_whole(part):
            return "whole"
        if (decimals := part.settings.get("decimals")) is not None:
            return f"to {decimals} decimal place{'s' * (decimals > 1)}"
        if (figures := part.settings.get("significant")) is not None:
            return f"to {figures} significant figure{'s' * (figures > 1)}"
        return ""


def _is_near(entry: Fraction, low: str, high: str, place: int | None) -> bool:
    """Tell whether a number lies within one unit of the last place of the key, rounded to that place."""
    if place is None:
        return False
    step = 10.0**-place
    if abs(float(entry) - (float(low) + float(high)) / 2) > 3 * step:
        return False  # far beyond what exact numbers are needed for
    return _is_near_exactly(entry, Fraction(low), Fraction(high), place)


def _is_near_exactly(entry: Fraction, low: Fraction, high: Fraction, place: int) -> bool:
    exact_step = Fraction(unit(place))
    key = round((low + high) / 2 / exact_step) * exact_step
    return abs(entry - key) <= exact_step


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


def _has_shape(numbers: NumberRows, shape: tuple[int, ...]) -> bool:
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
        faults.append(f"The weights sum to {decimal_text(total, max(places, default=6))}, not to 1.")
    return faults


# ----------------------------------------------------------------------------------------------------
# One number.


class Number(NumericType):
    """One number, with its unit behind it or without."""

    name = "number"

    def bare(self, text: str, part: Part) -> str:
        """Return the number; the field's own unit may stand behind it, and what is counted."""
        bare = super().bare(text, part)
        unit = part.settings.get("unit")
        if unit and bare.casefold().endswith(unit.casefold()):
            return bare[: -len(unit)].rstrip() or bare
        return without_count_word(bare) if is_whole(part) and not unit else bare

    def fit(self, numbers: NumberRows, part: Part) -> tuple[Fraction, ...] | None:
        """Return the number, in brackets or without."""
        return numbers.entries if len(numbers.entries) == 1 else None

    def wanted(self, part: Part) -> str:
        """Return ``one number``."""
        return "one number"

    def notations(self, usual: str) -> list[str]:
        """Return the number without its leading 0, with an exponent, as a fraction."""
        found = [f" {usual} ", f"{usual}e0"]
        if "." in usual:
            found.append(usual.replace("0.", ".", 1) if usual.lstrip("-").startswith("0.") else f"{usual}0")
            digits, places = usual.replace(".", ""), len(usual.split(".")[1])
            found.append(f"{digits}/{10**places}")
        return found

    def blank_hint(self, part: Part) -> str:
        """Return e.g. ``a number to 3 decimal places``."""
        words = self.rounding_words(part)
        noun = "a whole number" if words == "whole" else f"a number {words}".strip()
        unit = part.settings.get("unit")
        return (f"{noun}, in {unit}" if unit else noun) + self.leeway_words(part)


# ----------------------------------------------------------------------------------------------------
# A vector.


class Vector(NumericType):
    """A row or column of numbers; how it is laid out doesn't matter."""

    name = "vector"

    @staticmethod
    def _size(part: Part) -> int:
        return part.key.shape[0] if part.key is not None else 0

    def fit(self, numbers: NumberRows, part: Part) -> tuple[Fraction, ...] | None:
        """Return the entries of one row, or of rows with one number each."""
        is_line = len(numbers.rows) == 1 or all(len(row) == 1 for row in numbers.rows)
        return numbers.entries if is_line and len(numbers.entries) == self._size(part) else None

    def wanted(self, part: Part) -> str:
        """Return e.g. ``3 numbers``."""
        size = self._size(part)
        return f"{count_noun(size, 'number')}" if size > 1 else "1 number"

    def credit(self, part: Part, right: Sequence[bool], near: Sequence[bool]) -> Fraction:
        """Return the share of the marks: all or nothing, or entry by entry."""
        share = Fraction(Decimal(str(part.settings.get("near_credit", 0))))
        if part.settings.get("partial") != "per-entry":
            return self._group_credit(right, near, share)
        earned = [self._group_credit([r], [n], share) for r, n in zip(right, near, strict=True)]
        return sum(earned, Fraction(0)) / len(earned)

    def notations(self, usual: str) -> list[str]:
        """Return the entries without brackets, with other brackets, by blanks, as a column."""
        inside = usual.strip("[]")
        return [
            inside,
            f"({inside})",
            inside.replace(",", ""),
            f"[{inside.replace(',', ' ')}]",
            inside.replace(", ", "\n"),
            inside.replace(", ", "; "),
            f"array({usual})",
        ]

    def blank_hint(self, part: Part) -> str:
        """Return e.g. ``3 numbers to 2 decimal places, such as 0.1, 0.2, 0.7``."""
        words = self.rounding_words(part)
        asked = "whole numbers" if words == "whole" else f"numbers {words}".strip()
        return f"{self._size(part)} {asked}, with commas or blanks between them" + self.leeway_words(part)

    def policy(self, part: Part) -> str:
        """Return whether entries count one by one."""
        if part.settings.get("partial") == "per-entry":
            return "each right entry earns its share"
        return "all entries must be right"


# ----------------------------------------------------------------------------------------------------
# A matrix.


class Matrix(NumericType):
    """Rows of numbers, one row after the other."""

    name = "matrix"

    @staticmethod
    def _shape(part: Part) -> tuple[int, int]:
        return (part.key.shape[0], part.key.shape[1]) if part.key is not None else (0, 0)

    def fit(self, numbers: NumberRows, part: Part) -> tuple[Fraction, ...] | None:
        """Return the entries if there are as many rows and columns as asked."""
        rows, columns = self._shape(part)
        fits = len(numbers.rows) == rows and all(len(row) == columns for row in numbers.rows)
        return numbers.entries if fits else None

    def wanted(self, part: Part) -> str:
        """Return e.g. ``2 rows of 3 numbers``."""
        rows, columns = self._shape(part)
        return f"{rows} row{'s' * (rows > 1)} of {columns} number{'s' * (columns > 1)}"

    def label(self, part: Part, index: int) -> str:
        """Return e.g. ``row 2 column 1``."""
        row, column = divmod(index, self._shape(part)[1])
        return f"row {row + 1} column {column + 1}"

    def _rows(self, part: Part, flags: Sequence[bool]) -> list[Sequence[bool]]:
        _, columns = self._shape(part)
        return [flags[i : i + columns] for i in range(0, len(flags), columns)]

    def credit(self, part: Part, right: Sequence[bool], near: Sequence[bool]) -> Fraction:
        """Return the share of the marks: all or nothing, row by row, or entry by entry."""
        share = Fraction(Decimal(str(part.settings.get("near_credit", 0))))
        groups = [(right, near)]
        if part.settings.get("partial") == "per-row":
            groups = list(zip(self._rows(part, right), self._rows(part, near), strict=True))
        elif part.settings.get("partial") == "per-entry":
            groups = [([r], [n]) for r, n in zip(right, near, strict=True)]
        earned = [self._group_credit(r, n, share) for r, n in groups]
        return sum(earned, Fraction(0)) / len(earned)

    def notations(self, usual: str) -> list[str]:
        """Return the rows by ``;``, by new lines, and as numpy prints them."""
        rows = [row.strip("[] ") for row in usual.split("], [")]
        blanks = [row.replace(",", "") for row in rows]
        return [
            "; ".join(rows),
            "\n".join(blanks),
            "[" + "; ".join(blanks) + "]",
            "[" + "\n ".join(f"[{row}]" for row in blanks) + "]",
            ", ".join(f"({row})" for row in rows),
        ]

    def blank_hint(self, part: Part) -> str:
        """Return e.g. ``2 rows of 3 numbers to 2 decimal places, with ; between rows``."""
        words = self.rounding_words(part)
        rounding = ", whole" if words == "whole" else f" {words}" if words else ""
        rows = f"{self.wanted(part)}{rounding}, with ; or a new line between rows"
        return rows + self.leeway_words(part)

    def policy(self, part: Part) -> str:
        """Return whether rows or entries count one by one."""
        rules = {"per-row": "each right row earns its share", "per-entry": "each right entry earns its share"}
        return rules.get(part.settings.get("partial", "all"), "all entries must be right")
