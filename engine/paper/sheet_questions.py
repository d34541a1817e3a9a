"""What an answer sheet asks: each field with how it is filled in, on bubbles or in a box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from engine.answers.asked_precision import NumericSettings
from engine.expressions.values import decimal_text
from engine.model import FloatArray, Part
from engine.text.words import count_noun


class SheetFieldKind(StrEnum):
    """How a field is filled in."""

    SINGLE = "single"
    MULTIPLE = "multiple"
    MATCHING = "matching"
    ORDERING = "ordering"
    NUMBERS = "numbers"
    BOX = "box"
    STUDENT = "student"


@dataclass(frozen=True, slots=True)
class DigitColumn:
    """One column of a number: what its bubbles mean (``sign``, ``digit``, ``point``, ``exponent`` …)."""

    role: str
    values: tuple[str, ...]


_DIGITS = tuple("0123456789")


@dataclass(frozen=True, slots=True)
class NumberDigits:
    """How one number is entered on a grid.

    Parameters
    ----------
    whole, decimals : int
        Digits before and after the printed point.
    sign : bool
        Whether there is a bubble for the minus sign.
    exponent : int
        Digits of a power of ten, with a minus sign of its own; 0 for none.
    free : int
        Instead of whole and decimals: columns that hold a digit, a point or a bar each, for numbers that are
        asked exactly.
    top : int
        The highest digit: 1 for a matrix of noughts and ones.
    """

    whole: int = 2
    decimals: int = 0
    sign: bool = True
    exponent: int = 0
    free: int = 0
    top: int = 9

    def columns(self) -> tuple[DigitColumn, ...]:
        """Return the columns from left to right; the printed point and the ``×10`` take none."""
        signs = [DigitColumn("sign", ("-",))] if self.sign else []
        if self.free:
            return (*signs, *[DigitColumn("free", (*_DIGITS, ".", "/"))] * self.free)
        values = _DIGITS[: self.top + 1]
        digits = [DigitColumn("whole", values)] * self.whole + [
            DigitColumn("decimal", values)
        ] * self.decimals
        power = [DigitColumn("exponent sign", ("-",))] + [DigitColumn("exponent", _DIGITS)] * self.exponent
        return (*signs, *digits, *(power if self.exponent else []))


@dataclass(frozen=True, slots=True)
class SheetQuestion:
    """One field of the answer sheet: a part of a question, as it is filled in.

    Parameters
    ----------
    number : int
        Of the question in its quiz; 0 for the student's number.
    part : str
        Id of the part.
    label : str
        As printed, e.g. ``"3"`` or ``"3 b"``.
    kind : SheetFieldKind
    options : tuple of str
        Of choices, the targets of a matching, the cards of an ordering; each at most two signs.
    rows : tuple of str
        Prompts of a matching, places of an ordering, entries of a vector or matrix.
    digits : NumberDigits or None
        Of numbers and of the student's number.
    shape : tuple of int
        Of numbers: ``()``, ``(3,)``, ``(2, 3)``.
    lines : int
        Lines of a box.
    note : str
        A few words behind the label, such as ``"2 decimals"`` or a unit.
    """

    number: int
    part: str
    label: str
    kind: SheetFieldKind
    options: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    digits: NumberDigits | None = None
    shape: tuple[int, ...] = ()
    lines: int = 3
    note: str = ""


# A grid just wide enough for the key would give its size away: this many digits before the point at least.
_LEAST_WHOLE = 2
_LEAST_WHOLE_NUMBER = 3
# Weights lie between 0 and 1; one digit holds them.
_LEAST_WEIGHT = 1
# Of a number that is asked exactly: "-12.375" and "17/64" fit.
_LEAST_FREE = 6
_MOST_COLUMNS = 12
# Entries of a matrix: fewer may be noughts and ones by chance.
_LEAST_MASK = 9
# Lines of a box: a word or a sequence, some sentences, a program.
_BOX_LINES = {"token": 1, "free_text": 8, "code": 12}


def sheet_question(number: int, label: str, part: Part, *, lines: int | None = None) -> SheetQuestion:
    """Return how a part of a question is answered on the sheet.

    Parameters
    ----------
    number : int
        Of the question in its quiz.
    label : str
        As printed beside the question, e.g. ``"3 b"``.
    part : Part
        As drawn; options are lettered as they are printed.
    lines : int, optional
        Height of a box, for answers that are written.
    """
    letters = tuple(option.id for option in part.options)
    if part.type == "single_choice":
        return SheetQuestion(number, part.id, label, SheetFieldKind.SINGLE, letters, note="one option")
    if part.type == "multiple_choice":
        return SheetQuestion(
            number, part.id, label, SheetFieldKind.MULTIPLE, letters, note="all that are right"
        )
    if part.type == "matching":
        prompts = tuple(prompt.id for prompt in part.prompts)
        return SheetQuestion(number, part.id, label, SheetFieldKind.MATCHING, letters, prompts)
    if part.type == "ordering":
        places = tuple(f"{place}." for place in range(1, len(letters) + 1))
        return SheetQuestion(
            number, part.id, label, SheetFieldKind.ORDERING, letters, places, note="first to last"
        )
    if part.key is not None and part.type in ("number", "vector", "matrix"):
        digits, note = _digits_of(part)
        if len(digits.columns()) <= _MOST_COLUMNS:
            return SheetQuestion(
                number,
                part.id,
                label,
                SheetFieldKind.NUMBERS,
                rows=_entry_names(part.key.shape),
                digits=digits,
                shape=part.key.shape,
                note=note,
            )
    rows = _BOX_LINES.get(part.type, 3) if lines is None else lines
    return SheetQuestion(number, part.id, label, SheetFieldKind.BOX, lines=rows)


def student_number_question(digits: int) -> SheetQuestion:
    """Return the field of a spare copy in which a student enters a number of so many digits."""
    grid = NumberDigits(whole=digits, sign=False)
    return SheetQuestion(0, "student", "Student number", SheetFieldKind.STUDENT, digits=grid)


def _entry_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    if len(shape) == 1:
        return tuple(f"[{i + 1}]" for i in range(shape[0]))
    if len(shape) == 2:
        return tuple(f"[{i + 1},{j + 1}]" for i in range(shape[0]) for j in range(shape[1]))
    return ()


def _is_mask(part: Part, arrays: Sequence[FloatArray | None]) -> bool:
    """Return whether a matrix, and all that mistakes make of it, has no entry but noughts and ones.

    Of a matrix this large its question says so: two bubbles for each entry give nothing of the key away, and
    ten for each of three digits would fill more than a page.
    """
    is_large = part.key is not None and len(part.key.shape) == 2 and len(part.key.data) >= _LEAST_MASK
    return is_large and all(
        value in (0.0, 1.0) for array in arrays if array is not None for value in array.data
    )


def _digits_of(part: Part) -> tuple[NumberDigits, str]:
    """Return a grid that holds the key and what each known mistake gives, and what is asked."""
    settings = NumericSettings.of(part)
    arrays = [part.key, *[known.value for known in part.known_wrong]]
    values = [
        abs(value) for array in arrays if array is not None for value in array.data if math.isfinite(value)
    ]
    unit = f" {settings.unit}" if settings.unit else ""
    # Room for one that is rounded up: 99.96 to one decimal is 100.0.
    whole = len(str(math.floor(max(values, default=0.0) + 0.5)))
    if settings.is_whole and _is_mask(part, arrays):
        return NumberDigits(1, sign=False, top=1), "0 or 1"
    if settings.is_whole:
        return NumberDigits(max(_LEAST_WHOLE_NUMBER, whole)), f"whole{unit}"
    if settings.decimals is not None:
        least = _LEAST_WEIGHT if settings.simplex else _LEAST_WHOLE
        note = f"{count_noun(settings.decimals, 'decimal')}{unit}"
        return NumberDigits(max(least, whole), settings.decimals), note
    if settings.significant is not None:
        powers = [abs(math.floor(math.log10(value))) for value in values if value]
        exponent = 1 if max(powers, default=0) < 9 else 2
        note = f"{count_noun(settings.significant, 'figure')}{unit}"
        return NumberDigits(1, settings.significant - 1, exponent=exponent), note
    texts = [decimal_text(value, settings.place(value)) for value in (part.key.data if part.key else ())]
    free = max([_LEAST_FREE, *[len(text.lstrip("-")) for text in texts]])
    return NumberDigits(free=free), f"digits, point or bar{unit}"
