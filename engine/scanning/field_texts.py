"""From bubbles to the text of an answer, as the student would have typed it; or why a person must look.

The rules, which the instructions on paper state too:

- a bubble that is unsure makes its field unsure, whatever the others show
- two filled bubbles where one counts: a person looks
- a number may leave its first places before the point empty and its last ones after it; a gap between digits
  is for a person, and so is a number that is written above its bubbles and not filled in
- where a scan loses light marks, what seems to be left empty is for a person, who looks at the paper
- what the item's own reader refuses is for a person: on paper nobody can be asked to type it again
- an answer in words that its marker reads on paper needs no decision; only an untouched box is left empty
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.answers import kind_of
from engine.errors import ResponseFormatError
from engine.model import Part
from engine.paper.sheet_questions import NumberDigits, SheetFieldKind, SheetQuestion
from engine.text.words import agree, clean_line, join_words


@dataclass(frozen=True, slots=True)
class FieldMarks:
    """What stands in one field: filled and unsure bubbles as (entry, column, value), written boxes.

    ``is_faint``: light marks would be missing.
    """

    filled: tuple[tuple[int, int, str], ...] = ()
    unsure: tuple[tuple[int, int, str], ...] = ()
    written: tuple[tuple[int, int], ...] = ()
    is_faint: bool = False


@dataclass(frozen=True, slots=True)
class FieldText:
    """The text of a field, or, where ``reason`` says why, what a person must decide.

    ``text`` is then the best guess, for the person to start from; it is never handed in. ``on_paper`` says
    that its marker reads the answer on the sheet, and ``doubtful`` in which entries bubbles are unsure.
    """

    text: str
    reason: str | None = None
    on_paper: bool = False
    doubtful: frozenset[int] = frozenset()


def marks_in_field(
    index: int,
    filled: tuple[tuple[int, int, int, str], ...],
    unsure: tuple[tuple[int, int, int, str], ...],
    written: tuple[tuple[int, int, int], ...],
) -> FieldMarks:
    """Return the marks of one field, by its position in the layout."""
    return FieldMarks(
        tuple((entry, column, value) for field, entry, column, value in filled if field == index),
        tuple((entry, column, value) for field, entry, column, value in unsure if field == index),
        tuple((entry, column) for field, entry, column in written if field == index),
    )


class _UnclearFieldError(Exception):
    """Why a person must look; says it as words after the field's label."""


def field_text(question: SheetQuestion, marks: FieldMarks, part: Part | None) -> FieldText:
    """Return what a field says.

    Parameters
    ----------
    question : SheetQuestion
    marks : FieldMarks
    part : Part, optional
        Of the quiz: its reader has the last word. None for the student's number.
    """
    try:
        text = _text_of(question, marks)
    except _UnclearFieldError as error:
        return FieldText("", str(error))
    if marks.unsure:
        entries = frozenset(entry for entry, _, _ in marks.unsure)
        return FieldText(text, _unsure_words(question, marks), doubtful=entries)
    if question.kind is SheetFieldKind.BOX and marks.written:
        if is_read_on_paper(part):
            return FieldText("", on_paper=True)
        return FieldText("", "something is written here")
    if marks.is_faint and not _is_all_filled(question, marks):
        return FieldText(text, "light marks are lost in this scan, and something is empty: look at the paper")
    reason = refusal(text, part)
    return FieldText(text, reason)


def is_read_on_paper(part: Part | None) -> bool:
    """Return whether what is written for a part waits for its marker as it is, and isn't typed."""
    return part is not None and kind_of(part.type).needs_person


def _is_all_filled(question: SheetQuestion, marks: FieldMarks) -> bool:
    """Return whether each row and column has its bubble: then nothing can be missing."""
    if question.kind in (SheetFieldKind.BOX, SheetFieldKind.MULTIPLE):
        return False
    columns = 1 if question.digits is None else len(question.digits.columns())
    places = {(entry, column) for entry, column, _ in marks.filled}
    return len(places) == (len(question.rows) or 1) * columns


def refusal(text: str, part: Part | None) -> str | None:
    """Return why an item's reader refuses a text, None if it reads it, or if it is blank."""
    if part is None or not text.strip():
        return None
    kind = kind_of(part.type)
    if not kind.takes_text:
        return None
    try:
        kind.read(text, part)
    except ResponseFormatError as error:
        return clean_line(f"it can't be read as an answer: {error.what}")
    return None


def _unsure_words(question: SheetQuestion, marks: FieldMarks) -> str:
    values = list(dict.fromkeys(value for _, _, value in marks.unsure))
    return f"unclear whether {join_words(values, 'and', 4)} {agree(len(values), 'are')} filled"


def _text_of(question: SheetQuestion, marks: FieldMarks) -> str:
    if question.kind is SheetFieldKind.BOX:
        return ""
    if question.kind is SheetFieldKind.MULTIPLE:
        picked = [value for value in question.options if (0, 0, value) in set(marks.filled)]
        return ", ".join(picked)
    if question.kind is SheetFieldKind.SINGLE:
        return _only(marks, 0, 0, "")
    if question.kind is SheetFieldKind.MATCHING:
        pairs = [(row, _only(marks, i, 0, f"row {row}: ")) for i, row in enumerate(question.rows)]
        return ", ".join(f"{row}-{value}" for row, value in pairs if value)
    if question.kind is SheetFieldKind.ORDERING:
        cards = [_only(marks, i, 0, f"place {row}: ") for i, row in enumerate(question.rows)]
        return ", ".join(card for card in cards if card)
    assert question.digits is not None
    if question.kind is SheetFieldKind.STUDENT:
        return _number(question.digits, marks, 0, is_count=False)
    count = len(question.rows) or 1
    entries = [_number(question.digits, marks, i) for i in range(count)]
    return _array_text(entries, question.shape)


def _only(marks: FieldMarks, entry: int, column: int, where: str) -> str:
    """Return the only filled value of a row or column, empty if none is."""
    values = [value for e, c, value in marks.filled if (e, c) == (entry, column)]
    if len(values) > 1:
        raise _UnclearFieldError(f"{where}several are filled where one counts: {join_words(values)}")
    return values[0] if values else ""


def _array_text(entries: Sequence[str], shape: Sequence[int]) -> str:
    if not any(entries):
        return ""
    if not shape:
        return entries[0]
    missing = [i + 1 for i, entry in enumerate(entries) if not entry]
    if missing:
        raise _UnclearFieldError(f"entry {join_words(map(str, missing), 'and', 4)} is left empty")
    if len(shape) == 1:
        return f"[{', '.join(entries)}]"
    rows = [entries[i : i + shape[1]] for i in range(0, len(entries), shape[1])]
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"


def _number(digits: NumberDigits, marks: FieldMarks, entry: int, *, is_count: bool = True) -> str:
    columns = digits.columns()
    values = [_only(marks, entry, position, "in one column ") for position in range(len(columns))]
    by_role: dict[str, list[str]] = {}
    for column, value in zip(columns, values, strict=True):
        by_role.setdefault(column.role, []).append(value)
    written = [column for e, column in marks.written if e == entry]
    if any(not values[column] for column in written):
        raise _UnclearFieldError("something is written above a column in which nothing is filled")
    if not any(values):
        return ""
    if digits.free:
        free = by_role["free"]
        filled = [i for i, value in enumerate(free) if value]
        if not filled or filled != list(range(filled[0], filled[-1] + 1)):
            raise _UnclearFieldError("there is a gap between its digits")
        return "".join([*by_role.get("sign", []), *free])
    whole, decimals = by_role.get("whole", []), by_role.get("decimal", [])
    if not any([*whole, *decimals]):
        raise _UnclearFieldError("there is a sign or a power, and no digits")
    if not is_count:
        if not all(whole):
            raise _UnclearFieldError("a digit is missing")
        return "".join(whole)
    # Left of its first digit and right of its last one a number may be empty: "_ 3 . 5 _" is 3.5.
    first = next((i for i, value in enumerate(whole) if value), len(whole))
    last = max((i for i, value in enumerate(decimals) if value), default=-1)
    if not all(whole[first:]) or not all(decimals[: last + 1]):
        raise _UnclearFieldError("there is a gap between its digits")
    text = "".join(by_role.get("sign", [])) + ("".join(whole[first:]) or "0")
    if last >= 0:
        text += "." + "".join(decimals[: last + 1])
    if digits.exponent:
        power = by_role.get("exponent", [])
        start = next((i for i, value in enumerate(power) if value), len(power))
        if not all(power[start:]):
            raise _UnclearFieldError("there is a gap in its power of ten")
        sign = "".join(by_role.get("exponent sign", []))
        if sign and start == len(power):
            raise _UnclearFieldError("its power of ten has a sign, and no digits")
        if start < len(power):
            text += f"e{sign}{''.join(power[start:])}"
    return text
