"""Numbers of imported questions: a key with its tolerance, and the wrong numbers that were expected.

Other systems accept whatever lies near enough; a field here asks for a precision, which is chosen so that the
same answers are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from engine.authoring.importing.foreign_question import (
    AcceptedNumber,
    ForeignQuestion,
    ForeseenAnswer,
    full_answers,
)
from engine.authoring.importing.question_texts import QuestionTexts, UnfitError, excerpt
from engine.authoring.importing.yaml_writer import WrittenNumber
from engine.expressions.values import is_rounding_safe
from engine.text.words import percent

_CONTEXT = Context(prec=60)  # numerals of files have up to 40 digits: no step here may round them
_MAX_PLACES = 8  # decimals that a field can ask for
_FINEST = Decimal("1e-12")  # a tolerance below it is no more than the noise of doubles
# keys are shown and computed as doubles: outside these bounds their digits aren't those of the file
_SMALLEST = Decimal("1e-6")
_LARGEST = Decimal(10**11)
_MAX_TOLERANCE = Decimal(10**9)


def number_answer(
    question: ForeignQuestion, texts: QuestionTexts
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the answer of a numeric question, and the wrong numbers with feedback as known mistakes.

    Raises
    ------
    UnfitError
        Right numbers lie apart from each other, or the number is beyond what can be shown.
    """
    right = [answer.number for answer in full_answers(question) if answer.number is not None]
    key = _checked_key(_key(right))
    if all(number.value != key.value for number in right) or any(
        ".." in a.text.text for a in question.answers
    ):
        low, high = key.value - key.tolerance, key.value + key.tolerance
        around = f"{plain_number(low)} to {plain_number(high)}"
        texts.note(f"what is right, {around}, is written as a number with a tolerance", question.place)
    mistaken = _known_mistakes(question, key, texts)
    data: dict[str, Any] = {"type": "number", "key": WrittenNumber(plain_number(key.value))}
    if _is_whole(question, key):
        data["decimals"] = 0
    else:
        data |= _precision([key], [number.value for number, _ in mistaken])
    data |= _near_credit(question)
    if question.unit:
        data["unit"] = question.unit
    mistakes = [
        {"id": "", "expr": WrittenNumber(plain_number(number.value)), "feedback": feedback}
        for number, feedback in mistaken
    ]
    return data, mistakes


def numbers_answer(
    rows: Sequence[Sequence[ForeignQuestion]], texts: QuestionTexts
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the answer of fields that stand in a row or in rows, and what is wrong in all of them alike.

    Raises
    ------
    UnfitError
        As :func:`number_answer`.
    """
    gaps = [gap for row in rows for gap in row]
    keys = [_checked_key(_key([a.number for a in full_answers(gap) if a.number is not None])) for gap in gaps]
    least = min(key.tolerance for key in keys)
    if any(key.tolerance != least for key in keys):
        reach = f"every entry may be {plain_number(least)} off, as the one that may be off least"
        texts.note(f"the entries have tolerances of their own; here {reach}", gaps[0].place)
    kind = "vector" if len(rows) == 1 else "matrix"
    data: dict[str, Any] = {"type": kind, "key": _in_rows([key.value for key in keys], rows)}
    shared = _shared_mistakes(gaps, texts)
    known = [value for values, _ in shared for value in values]
    if all(_is_whole(gap, key) for gap, key in zip(gaps, keys, strict=True)):
        data["decimals"] = 0
    else:
        data |= _precision([AcceptedNumber(key.value, least) for key in keys], known)
    # the fields of a text are marked one by one, unless their system says otherwise
    data["partial"] = gaps[0].policy or "per-entry"
    data |= _near_credit(gaps[0])
    mistakes = [
        {"id": "", "expr": _in_rows(values, rows), "feedback": feedback} for values, feedback in shared
    ]
    return data, mistakes


def _is_whole(question: ForeignQuestion, key: AcceptedNumber) -> bool:
    return question.whole and not key.tolerance and key.value == key.value.to_integral_value()


def _near_credit(question: ForeignQuestion) -> dict[str, Any]:
    return {"near_credit": float(question.near_share)} if question.near_share else {}


def _in_rows(values: Sequence[Decimal], rows: Sequence[Sequence[ForeignQuestion]]) -> str:
    written = iter(plain_number(value) for value in values)
    lines = [f"[{', '.join(next(written) for _ in row)}]" for row in rows]
    return lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"


def _shared_mistakes(
    gaps: Sequence[ForeignQuestion], texts: QuestionTexts
) -> list[tuple[list[Decimal], str]]:
    """Return wrong entries that all fields explain in the same words: a mistake has a value in each."""
    explained: list[dict[str, Decimal]] = []
    for gap in gaps:
        values: dict[str, Decimal] = {}
        for answer in gap.answers:
            if answer.fraction != 1 and answer.number is not None and answer.feedback:
                values.setdefault(answer.feedback.text, answer.number.value)
        explained.append(values)
    # only what every entry explains is a mistake of the whole: ours have a value for each entry
    shared = [words for words in explained[0] if all(words in values for values in explained)]
    if any(set(values) != set(shared) for values in explained):
        texts.note("feedback on single entries isn't kept: a mistake has a value for each", gaps[0].place)
    mistakes = []
    for words in shared:
        markup = next(a.feedback for a in gaps[0].answers if a.feedback.text == words)
        feedback = texts.feedback(markup, "feedback of wrong entries", place=gaps[0].place)
        if feedback:
            mistakes.append(([values[words] for values in explained], feedback))
    return mistakes


def plain_number(value: Decimal) -> str:
    """Return a number with its digits, with a power of ten only where it would be long otherwise."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    text = text if len(text) <= 24 else str(value.normalize(_CONTEXT)).replace("E", "e")
    return "0" if text in ("-0", "") else text


def _checked_key(key: AcceptedNumber) -> AcceptedNumber:
    if abs(key.value) >= _LARGEST or 0 < abs(key.value) < _SMALLEST:
        raise UnfitError(f"the number {plain_number(key.value)} is too large or too small", "use other units")
    if key.tolerance >= _MAX_TOLERANCE:
        raise UnfitError("its tolerance is too large", "use other units")
    return key


def _key(numbers: Sequence[AcceptedNumber]) -> AcceptedNumber:
    if not numbers:
        raise UnfitError("any number is right", "ask for a certain one")
    spans = sorted((number.value - number.tolerance, number.value + number.tolerance) for number in numbers)
    low, high = spans[0]
    for start, end in spans[1:]:
        if start > high:
            numbers_apart = f"{plain_number(numbers[0].value)} and {plain_number(numbers[1].value)}"
            raise UnfitError(
                f"numbers are right that lie apart ({numbers_apart}), and a number field has one key",
                "ask for both in one item of type vector, or say in the text which one is wanted",
            )
        high = max(high, end)
    first = numbers[0]
    if first.value - first.tolerance == low and first.value + first.tolerance == high:
        return first
    return AcceptedNumber((low + high) / 2, (high - low) / 2)


def _precision(keys: Sequence[AcceptedNumber], mistaken: Sequence[Decimal]) -> dict[str, Any]:
    """Return ``tolerance``, and ``decimals`` where students are asked for some.

    As few decimals as the tolerance allows. None are asked for where whole numbers would do, because a field
    for 0 decimals doesn't take other numbers as answers, nor where the tolerance is wider than a unit of the
    last place, because rounding decides nothing there. The other system asks for no precision either: it
    marks any number by its distance from the key. Several keys have the same tolerance.
    """
    least = max([_places(value) for value in mistaken], default=0)
    tolerance = keys[0].tolerance.quantize(_FINEST, context=_CONTEXT)
    if tolerance < _FINEST and any(_places(key.value) > _MAX_PLACES for key in keys):
        tolerance = Decimal(1).scaleb(-_MAX_PLACES) / 2  # more digits than can be asked for
    for places in range(min(least, _MAX_PLACES), _MAX_PLACES + 1):
        reaches = [_reach(key.value, places, tolerance) for key in keys]
        fitting = [reach for reach in reaches if reach is not None]
        if len(fitting) == len(keys) and all(is_rounding_safe(float(key.value), places) for key in keys):
            reach = min(fitting)
            asks = places > 0 and reach <= Decimal(1).scaleb(-places)
            return ({"decimals": places} if asks else {}) | {"tolerance": WrittenNumber(plain_number(reach))}
    raise UnfitError("its number has more digits than can be asked for", "round it, or give it a tolerance")


def _reach(value: Decimal, places: int, tolerance: Decimal) -> Decimal | None:
    """Return the tolerance if an answer rounded to so many places stays within it, None if it doesn't.

    Without a tolerance only the digits themselves are right: a thousandth of the last place allows for the
    rounding errors of doubles.
    """
    unit = Decimal(1).scaleb(-places)
    is_exact = value.quantize(unit, rounding=ROUND_HALF_EVEN, context=_CONTEXT) == value
    if tolerance >= _FINEST:
        return tolerance if is_exact or unit / 2 <= tolerance else None
    return unit / 1000 if is_exact and unit / 1000 >= _FINEST else None


def _places(value: Decimal) -> int:
    exponent = value.normalize(_CONTEXT).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _known_mistakes(
    question: ForeignQuestion, key: AcceptedNumber, texts: QuestionTexts
) -> list[tuple[AcceptedNumber, str]]:
    """Return wrong numbers with their feedback; note what isn't kept."""
    mistaken: list[tuple[AcceptedNumber, str]] = []
    for answer in question.answers:
        if answer.fraction == 1 and answer.number is not None:
            continue
        feedback = texts.feedback(
            answer.feedback, f"feedback of {excerpt(answer.text.text)}", place=answer.place
        )
        if answer.fraction != 0:
            share = f"{percent(answer.fraction)} for {excerpt(answer.text.text)}"
            texts.note(f"{share} isn't kept: a number is right or wrong here", answer.place)
        if answer.number is None:
            if feedback:
                texts.note("feedback for any other number isn't kept", answer.place)
        elif feedback:
            _add_mistake(mistaken, answer, answer.number, feedback, key, texts)
    return mistaken


def _add_mistake(
    mistaken: list[tuple[AcceptedNumber, str]],
    answer: ForeseenAnswer,
    number: AcceptedNumber,
    feedback: str,
    key: AcceptedNumber,
    texts: QuestionTexts,
) -> None:
    is_near = abs(number.value - key.value) <= 2 * key.tolerance + abs(key.value) * Decimal("1e-9")
    is_known = any(number.value == other.value for other, _ in mistaken)
    if is_near or is_known or _places(number.value) > _MAX_PLACES or abs(number.value) >= _LARGEST:
        texts.note(f"feedback of {excerpt(answer.text.text)} isn't kept: it lies too near", answer.place)
    else:
        mistaken.append((number, feedback))
