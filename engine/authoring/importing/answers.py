"""Numeric questions: one key with its tolerance, and the wrong numbers that their author foresaw."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from engine.exchange.numerals import percent
from engine.exchange.question import Answer, Number, Question
from engine.exchange.soundness import full_answers
from engine.exchange.spec_file.texts import Texts, UnfitError, named
from engine.exchange.spec_file.yaml_text import Written
from engine.variants.rounding import is_rounding_safe

__all__ = ["number_answer", "plain_number"]

_CONTEXT = Context(prec=60)
_MAX_PLACES = 8
_FINEST = Decimal("1e-12")
_SMALLEST = Decimal("1e-6")
_BOUND = Decimal(10**9)
_LARGEST = Decimal(10**11)


def number_answer(question: Question, texts: Texts) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the answer of a numeric question, and its foreseen wrong numbers as known mistakes.

    Raises
    ------
    UnfitError
        Several numbers are right that lie apart, or the number is beyond what can be shown.
    """
    right = [answer.number for answer in full_answers(question) if answer.number is not None]
    key = _key(right)
    if all(number.value != key.value for number in right) or any(
        ".." in a.text.text for a in question.answers
    ):
        low, high = key.value - key.tolerance, key.value + key.tolerance
        around = f"{plain_number(low)} to {plain_number(high)}"
        texts.note(f"what is right, {around}, is written as a number with a tolerance", question.place)
    if abs(key.value) >= _LARGEST or 0 < abs(key.value) < _SMALLEST:
        raise UnfitError(f"the number {plain_number(key.value)} is too large or too small", "use other units")
    if key.tolerance >= _BOUND:
        raise UnfitError("its tolerance is too large", "use other units")
    foreseen = _foreseen(question, key, texts)
    data: dict[str, Any] = {"type": "number", "key": Written(plain_number(key.value))}
    data |= _asked(key, [number.value for number, _ in foreseen])
    if question.unit:
        data["unit"] = question.unit
    mistakes = [
        {"id": "", "expr": Written(plain_number(number.value)), "feedback": feedback}
        for number, feedback in foreseen
    ]
    return data, mistakes


def plain_number(value: Decimal) -> str:
    """Return a number with its digits, by powers of ten only where it is long otherwise."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    text = text if len(text) <= 24 else str(value.normalize(_CONTEXT)).replace("E", "e")
    return "0" if text in ("-0", "") else text


def _key(numbers: Sequence[Number]) -> Number:
    """Return one number that accepts what all of these accept."""
    if not numbers:
        raise UnfitError("any number is right", "ask for a certain one")
    spans = sorted((number.value - number.tolerance, number.value + number.tolerance) for number in numbers)
    low, high = spans[0]
    for start, end in spans[1:]:
        if start > high:
            what = f"{plain_number(numbers[0].value)} and {plain_number(numbers[1].value)}"
            raise UnfitError(
                f"numbers are right that lie apart ({what}), and a number field has one key",
                "ask for both in one item of type vector, or say in the text which one is wanted",
            )
        high = max(high, end)
    first = numbers[0]
    if first.value - first.tolerance == low and first.value + first.tolerance == high:
        return first
    return Number((low + high) / 2, (high - low) / 2)


# --- how exactly it is asked ------------------------------------------------------------


def _asked(key: Number, foreseen: Sequence[Decimal]) -> dict[str, Any]:
    """Return ``tolerance``, and ``decimals`` where students are asked for some.

    As few decimals as the tolerance allows. None are asked for where whole numbers would do, as a field for 0
    decimals refuses all others as no answer, and where the tolerance is wider than a unit of the
    last place, as nothing follows from a rounding there. The other system asks for no form either: it marks
    any number by its distance from the key.
    """
    least = max([_places(value) for value in foreseen], default=0)
    tolerance = key.tolerance.quantize(_FINEST, context=_CONTEXT)
    if tolerance < _FINEST and _places(key.value) > _MAX_PLACES:  # more digits than can be asked for
        tolerance = Decimal(1).scaleb(-_MAX_PLACES) / 2
    for places in range(min(least, _MAX_PLACES), _MAX_PLACES + 1):
        reach = _reach(key.value, places, tolerance)
        if reach is not None and is_rounding_safe(float(key.value), places):
            asks = places > 0 and reach <= Decimal(1).scaleb(-places)
            return ({"decimals": places} if asks else {}) | {"tolerance": Written(plain_number(reach))}
    raise UnfitError("its number has more digits than can be asked for", "round it, or give it a tolerance")


def _reach(value: Decimal, places: int, tolerance: Decimal) -> Decimal | None:
    """Return the tolerance if honest rounding to some places stays within it, None if it doesn't.

    Without a tolerance only the digits themselves are right: a thousandth of the last one allows for
    what computers do to decimals.
    """
    unit = Decimal(1).scaleb(-places)
    is_exact = value.quantize(unit, rounding=ROUND_HALF_EVEN, context=_CONTEXT) == value
    if tolerance >= _FINEST:
        return tolerance if is_exact or unit / 2 <= tolerance else None
    return unit / 1000 if is_exact and unit / 1000 >= _FINEST else None


def _places(value: Decimal) -> int:
    exponent = value.normalize(_CONTEXT).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


# --- wrong numbers ----------------------------------------------------------------------


def _foreseen(question: Question, key: Number, texts: Texts) -> list[tuple[Number, str]]:
    """Return wrong numbers with what is said to them; note what isn't kept."""
    found: list[tuple[Number, str]] = []
    for answer in question.answers:
        if answer.fraction == 1 and answer.number is not None:
            continue
        feedback = texts.feedback(
            answer.feedback, f"feedback of {named(answer.text.text)}", place=answer.place
        )
        if answer.fraction != 0:
            share = f"{percent(answer.fraction)} for {named(answer.text.text)}"
            texts.note(f"{share} isn't kept: a number is right or wrong here", answer.place)
        if answer.number is None:
            if feedback:
                texts.note("feedback for any other number isn't kept", answer.place)
        elif feedback:
            _add(found, answer, answer.number, feedback, key, texts)
    return found


def _add(
    found: list[tuple[Number, str]], answer: Answer, number: Number, feedback: str, key: Number, texts: Texts
) -> None:
    near = abs(number.value - key.value) <= 2 * key.tolerance + abs(key.value) * Decimal("1e-9")
    known = any(number.value == other.value for other, _ in found)
    if near or known or _places(number.value) > _MAX_PLACES or abs(number.value) >= _LARGEST:
        texts.note(f"feedback of {named(answer.text.text)} isn't kept: it lies too near", answer.place)
    else:
        found.append((number, feedback))
