"""Open edX's problem block as a client of the same-mark table, and the rules by which its marks differ."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from xml.etree import ElementTree

from docs.generators.same_marks import RuledMark, Subject
from engine.export.exported_fields import (
    ChoiceField,
    EssayField,
    ExportedField,
    MatchField,
    NumbersField,
    OrderField,
    WordsField,
)
from engine.export.open_edx import ProblemWriter
from tests.clients.sample_answers import SampleAnswer
from tests.live.openedx_problem import FieldValue, OpenEdxProblemBlock

__all__ = ["OpenEdxClient", "openedx_client"]

EXPRESSIONS, ENTRIES = "Open edX: expressions", "Open edX: entry by entry"
SHARES, OWN_VALUES = "Open edX: equal shares", "Open edX: only the key"
HALVES, HUNDREDTHS = "Open edX: halves", "Open edX: hundredths"
PLACES, PAIRS = "Open edX: place by place", "Open edX: pair by pair"
NEAR, LISTED = "Open edX: no near misses", "Open edX: listed texts"
RULES: Mapping[str, str] = {
    EXPRESSIONS: "Open edX reads a number as an expression: signs, decimals with a point, exponents, per "
    "cent, sums, products and quotients. What it can't read, such as a decimal comma, it refuses at no cost, "
    "and with it the whole problem; what we can't read, we refuse.",
    ENTRIES: "Open edX marks each entry of a vector or matrix on its own; a blank one is wrong.",
    SHARES: "every field of a problem of Open edX earns the same share of its points.",
    HALVES: "Open edX has no rule that takes wrong picks off the right ones: one error costs half of the "
    "points, two errors (from 5 options on) three quarters, more errors all of them.",
    HUNDREDTHS: "Open edX rounds the share of an answer with several options to hundredths.",
    PLACES: "Open edX marks the place of each card; a place may be named twice, or left out.",
    PAIRS: "Open edX marks each pair on its own.",
    NEAR: "Open edX gives nothing for a number that is nearly right.",
    LISTED: "Open edX takes a text if it is listed, whatever its case, and marks all others as wrong.",
    OWN_VALUES: "we also mark a step with the student's own earlier values; Open edX knows only the key.",
}


@contextmanager
def openedx_client() -> Iterator[OpenEdxClient]:
    """Start the block in its own environment."""
    with OpenEdxProblemBlock() as block:
        yield OpenEdxClient(block)


class OpenEdxClient:
    """The problem block, and what it makes of the items of a course."""

    name = "Open edX"
    rules = RULES
    tolerance = 1e-6

    def __init__(self, block: OpenEdxProblemBlock) -> None:
        self._block = block

    def carries(self, subject: Subject) -> bool:
        """A problem takes all but answers in words."""
        return not any(isinstance(field, EssayField) for field in subject.item.fields)

    def marks(self, subject: Subject) -> list[float | None]:
        """Return its marks; None where it refuses an answer."""
        item = subject.item
        olx = ProblemWriter().problem(item, ())
        options = [field["options"] for field in self._block.page(olx)["fields"]]
        responses = [_values(item.fields, answer, options) for answer in subject.answers]
        return [
            None if result.share is None else result.share * item.points
            for result in self._block.mark(olx, responses)
        ]

    def expected(
        self, subject: Subject, answer: Sequence[SampleAnswer], ours: float | None
    ) -> RuledMark | None:
        """Return the mark that its rules give, where it isn't ours."""
        item = subject.item
        texts = _listed_texts(ProblemWriter().problem(item, ()))
        found = [
            _ruled(field, one, texts.pop(0) if isinstance(field, WordsField) else ())
            for field, one in zip(item.fields, answer, strict=True)
        ]
        shares = [share for ruled in found for share in ruled.shares]
        if None in shares:
            return None if ours is None else RuledMark(EXPRESSIONS, None)
        mark = float(sum(share or 0 for share in shares) / len(shares)) * item.points
        if ours is not None and abs(mark - ours) < self.tolerance:
            return None
        # what the same shares would earn with the points that we give each step
        weighted = sum(
            item.points * worth * float(sum(share or 0 for share in ruled.shares) / len(ruled.shares))
            for ruled, worth in zip(found, item.shares(), strict=True)
        )
        rules = [ruled.rule for ruled in found if ruled.rule]
        if ours is not None and abs(weighted - ours) < self.tolerance:
            rules.insert(0, SHARES)
        elif ours is not None and ours > weighted and any(field.follows for field in item.fields):
            rules.insert(0, OWN_VALUES)
        return RuledMark(next(iter(rules), SHARES), mark)


def _values(
    fields: Sequence[ExportedField], answer: Sequence[SampleAnswer], options: Sequence[Sequence[str]]
) -> list[FieldValue]:
    values: list[FieldValue] = []
    for field, one in zip(fields, answer, strict=True):
        match field:
            case ChoiceField():
                numbers = [i for i, option in enumerate(field.options) if option.id in one.picked]
                values.append(numbers if field.multiple else next(iter(numbers), None))
            case OrderField(cards=cards):
                values += [str(one.order.index(c.id) + 1) if c.id in one.order else None for c in cards]
            case MatchField(prompts=prompts, targets=targets):
                ids = [target.id for target in targets]
                pairs, shown = dict(one.pairs), options[len(values)]
                values += [shown[ids.index(pairs[p.id])] if p.id in pairs else None for p in prompts]
            case _:
                values += one.entries
    return values


def _listed_texts(olx: str) -> list[frozenset[str]]:
    """Return the texts that each field for words takes, as the file lists them."""
    return [
        frozenset(text.get("answer", "").lower() for text in (response, *response.iter("additional_answer")))
        for response in ElementTree.fromstring(olx).iter("stringresponse")
    ]


@dataclass(frozen=True)
class _RuledShares:
    """What the responses of one field earn, None for one that is refused, and the rule that says so."""

    shares: Sequence[Fraction | None]
    rule: str


def _ruled(field: ExportedField, answer: SampleAnswer, texts: frozenset[str] | tuple[()]) -> _RuledShares:
    match field:
        case ChoiceField(multiple=True):
            return _several_options(field, frozenset(answer.picked))
        case ChoiceField():
            right = {option.id for option in field.options if option.correct}
            return _RuledShares([Fraction(bool(right & set(answer.picked)))], "")
        case OrderField():
            placed = zip(answer.order or [None] * len(field.order), field.order, strict=True)
            return _RuledShares([Fraction(card == right) for card, right in placed], PLACES)
        case MatchField():
            pairs = dict(answer.pairs)
            shares = [Fraction(pairs.get(p.id) == field.pairs[p.id]) for p in field.prompts]
            return _RuledShares(shares, PAIRS)
        case NumbersField():
            return _numbers(field, answer)
        case WordsField():
            return _RuledShares([Fraction(answer.entries[0].strip().lower() in texts)], LISTED)
    raise ValueError(f"no rule for {type(field).__name__}")


def _several_options(field: ChoiceField, picked: frozenset[str]) -> _RuledShares:
    right = {option.id for option in field.options if option.correct}
    errors, count = len(right ^ picked), len(field.options)
    if not picked:
        return _RuledShares([Fraction(0)], HUNDREDTHS)
    if field.policy == "exact":
        return _RuledShares([Fraction(not errors)], "")
    if field.policy == "each-answer":
        return _RuledShares([Fraction(math.floor((1 - errors / count) * 100 + 0.5), 100)], HUNDREDTHS)
    earned = {0: Fraction(1), 1: Fraction(count > 2, 2), 2: Fraction(count > 4, 4)}
    return _RuledShares([earned.get(errors, Fraction(0))], HALVES)


def _numbers(field: NumbersField, answer: SampleAnswer) -> _RuledShares:
    shares: list[Fraction | None] = []
    for text, entry in zip(answer.entries, field.entries, strict=True):
        if not text.strip():
            shares.append(Fraction(0))
            continue
        value = expression_value(text)
        inside = value is not None and Fraction(entry.lower) <= value <= Fraction(entry.upper)
        shares.append(None if value is None else Fraction(inside))
    is_near = any(entry.near is not None for entry in field.entries) and answer.what == "edge"
    several = ENTRIES if len(field.entries) > 1 and None not in shares else EXPRESSIONS
    return _RuledShares(shares, NEAR if is_near else several)


_TOKEN = re.compile(r"\s*(?:((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(%?)|([-+*/()]))")


def expression_value(text: str) -> Fraction | None:
    """Return the value of an expression as Open edX's documentation describes it; None where it has none."""
    tokens: list[Fraction | str] = []
    position, text = 0, text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        position = match.end()
        if match[1] is None:
            tokens.append(match[3])
        else:
            tokens.append(Fraction(match[1]) / (100 if match[2] else 1))
    try:
        value = _sum(tokens)
    except (IndexError, TypeError, ZeroDivisionError):
        return None
    return None if tokens else value


def _sum(tokens: list[Fraction | str]) -> Fraction:
    total = _product(tokens)
    while tokens and tokens[0] in ("+", "-"):
        sign = -1 if tokens.pop(0) == "-" else 1
        total += sign * _product(tokens)
    return total


def _product(tokens: list[Fraction | str]) -> Fraction:
    value = _operand(tokens)
    while tokens and tokens[0] in ("*", "/"):
        is_quotient = tokens.pop(0) == "/"
        value = value / _operand(tokens) if is_quotient else value * _operand(tokens)
    return value


def _operand(tokens: list[Fraction | str]) -> Fraction:
    token = tokens.pop(0)
    if token in ("+", "-"):  # any number of signs
        return -_operand(tokens) if token == "-" else _operand(tokens)
    if token == "(":
        value = _sum(tokens)
        if tokens.pop(0) != ")":
            raise TypeError
        return value
    if isinstance(token, str):
        raise TypeError
    return token
