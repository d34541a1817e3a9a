"""Moodle's own mark for a response to a question of a file, from 0 to 1.

Written from how Moodle 4.5 and 5.0 grade: numbers with their tolerance and the digits that PHP compares,
texts with wildcards, choices with penalties, pairs, orders by their grading type, and the weighted fields of
a Cloze text. What is asked for is the mark of a finished attempt that is graded afterwards (the behaviour
"deferred feedback"), in English, where a point separates decimals and a comma thousands.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Protocol

from tests.oracles.moodle_cloze import ClozeField
from tests.oracles.moodle_rules import MoodleQuestion

__all__ = ["choice_mark", "cloze_mark", "match_mark", "number_mark", "order_mark", "text_mark", "typed_value"]


class MarkedAnswer(Protocol):
    """An answer with its share of the points."""

    text: str
    fraction: float
    tolerance: float


# PHP's `precision`: how many digits of a number it compares here
_EPSILON = 10.0**-14
_POWER = re.compile(r"(?:e|E|(?:x|\*|×)10(?:\^|\*\*))([+-]?\d+)")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?", re.ASCII)
_TRIMMED = " \t\n\r\0\x0b"


def typed_value(text: str) -> float | None:
    """Return the number that Moodle reads at the beginning of a response; what follows doesn't matter."""
    text = _POWER.sub(r"e\1", text.strip(_TRIMMED).replace(" ", ""))
    # A comma separates thousands in English, with and without a point in the number.
    text = text.replace(",", "")
    match = _NUMBER.match(text)
    return float(match[0]) if match is not None else None


def number_mark(answers: Sequence[MarkedAnswer], response: str) -> tuple[float, int | None]:
    """Return the mark of a number, and which of the answers it met; units are ignored."""
    value = typed_value(response)
    if value is None:
        return 0.0, None
    for place, answer in enumerate(answers):
        if answer.text == "*":
            return answer.fraction, place
        expected = float(answer.text.replace(",", "."))
        reach = answer.tolerance + _EPSILON * max(answer.tolerance, abs(expected), _EPSILON)
        if expected - reach <= value <= expected + reach:
            return answer.fraction, place
    return 0.0, None


def text_mark(
    answers: Sequence[MarkedAnswer], response: str, *, usecase: bool = False
) -> tuple[float, int | None]:
    """Return the mark of a short answer, and which of the answers it met."""
    typed = unicodedata.normalize("NFC", response).strip(_TRIMMED)
    if not typed:
        return 0.0, None
    for place, answer in enumerate(answers):
        pattern = unicodedata.normalize("NFC", answer.text)
        pieces = re.split(r"(?<!\\)\*+", pattern)
        exact = ".*".join(re.escape(piece.replace("\\*", "*")) for piece in pieces)
        # PHP's $ also lets one line end pass; the response has been trimmed
        if re.fullmatch(exact, typed, 0 if usecase else re.IGNORECASE):
            return answer.fraction, place
    return 0.0, None


def choice_mark(answers: Sequence[MarkedAnswer], picked: Sequence[int], *, single: bool = True) -> float:
    """Return the mark of the options that were picked, by their place in the file."""
    if not picked:
        return 0.0
    if single:
        return answers[picked[0]].fraction
    return min(max(0.0, sum(answers[place].fraction for place in picked)), 1.0)


def match_mark(question: MoodleQuestion, chosen: Sequence[str | None]) -> float:
    """Return the mark of the answers that were chosen for the stems in turn; None where none was."""
    right = [target for stem, target in question.pairs if stem]
    return sum(choice == target for choice, target in zip(chosen, right, strict=True)) / len(right)


def order_mark(question: MoodleQuestion, order: Sequence[int]) -> float:
    """Return the mark of an order of the cards, which the file lists in their right order."""
    count = len(question.answers)
    placed = sum(card == place for place, card in enumerate(order))
    if question.grading == "ALL_OR_NOTHING":
        return float(placed == count)
    if question.grading == "ABSOLUTE_POSITION":
        return placed / count
    if question.grading == "RELATIVE_ALL_PREVIOUS_AND_NEXT":
        # each card counts the right ones before and the right ones behind it: every pair counts twice
        before = {card: set(order[:place]) for place, card in enumerate(order)}
        hits = sum(len(before[card] & set(range(card))) for card in range(count))
        behind = {card: set(order[place + 1 :]) for place, card in enumerate(order)}
        hits += sum(len(behind[card] & set(range(card + 1, count))) for card in range(count))
        return hits / (count * (count - 1))
    raise ValueError(f"no marks are written down here for {question.grading}")


def cloze_mark(
    fields: Sequence[ClozeField], responses: Sequence[str | Sequence[int]]
) -> tuple[float, list[float]]:
    """Return the mark of a Cloze text and those of its fields; a choice's response is what was picked."""
    marks = [_field_mark(part, response) for part, response in zip(fields, responses, strict=True)]
    total = sum(part.weight for part in fields)
    return sum(part.weight * mark for part, mark in zip(fields, marks, strict=True)) / total, marks


def _field_mark(part: ClozeField, response: str | Sequence[int]) -> float:
    if part.kind == "multichoice":
        assert not isinstance(response, str)
        return choice_mark(part.answers, response, single=part.single)
    assert isinstance(response, str)
    if part.kind == "numerical":
        return number_mark(part.answers, response)[0]
    return text_mark(part.answers, response, usecase=part.usecase)[0]
