"""The two QTI players as clients of the same-mark table, and the rules by which QTI marks differently."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

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
from engine.export.exported_item import ExportedQuiz
from engine.export.qti.package_files import package_files
from engine.export.qti.xml_pieces import identifier_of
from engine.export.spellings import accepted_spellings
from tests.clients.qti_players import Player, players
from tests.clients.sample_answers import SampleAnswer

__all__ = ["QtiClient", "client_responses", "qti_clients"]

UNREADABLE, SPELLING = "read otherwise", "spelling"
INCOMPLETE, FOLLOWS, PERSON = "incomplete", "own values", "a person"
RULES = {
    UNREADABLE: "we refuse what we can't read, at no cost; QTI marks it as wrong, and the other entries of a "
    "vector or matrix on their own.",
    SPELLING: "we read fractions, percent signs, decimal commas and names before a number, and tokens with "
    "anything between them; QTI reads plain decimals, and texts in the spellings that are listed.",
    INCOMPLETE: "we refuse an order that lacks a card; QTI marks the cards that have a place.",
    FOLLOWS: "we also mark a step with the student's own earlier values; QTI knows only the key.",
    PERSON: "a person marks words; until then we show no mark, and QTI a SCORE of 0.",
}
# what both players read as a number
_DECIMAL = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")


@contextmanager
def qti_clients() -> Iterator[list[QtiClient]]:
    """Open both players."""
    with tempfile.TemporaryDirectory(prefix="softmark-") as folder, players(Path(folder)) as opened:
        yield [QtiClient(player) for player in opened]


class QtiClient:
    """A player, and what it makes of the items of a QTI 3 package."""

    rules: Mapping[str, str] = RULES

    def __init__(self, player: Player) -> None:
        self.name = player.name
        # One of them keeps three decimals of each outcome.
        self.tolerance = 6e-4 if player.name == "qti-components" else 1e-6
        self._player = player

    def carries(self, subject: Subject) -> bool:
        """QTI carries all that other platforms can ask."""
        return True

    def marks(self, subject: Subject) -> list[float]:
        """Return its marks of all answers."""
        quiz = ExportedQuiz("marks", "Marks", (subject.family,))
        text = package_files(quiz, lambda: None)[f"items/{subject.item.name}.xml"]
        assert isinstance(text, str)
        answered = self._player.answer(text, client_responses(subject))
        return [0.0 if one.score is None else one.score for one in answered]

    def expected(
        self, subject: Subject, answer: Sequence[SampleAnswer], ours: float | None
    ) -> RuledMark | None:
        """Return the mark that a rule gives, where a rule applies."""
        fields = subject.item.fields
        points = [subject.item.points * share for share in subject.item.shares()]
        ruled = [_rule(field, one) for field, one in zip(fields, answer, strict=True)]
        marks = [
            worth * float(share if found is None else found[1])
            for worth, found, share in zip(
                points, ruled, (_share(f, a) for f, a in zip(fields, answer, strict=True)), strict=True
            )
        ]
        names = [found[0] for found in ruled if found is not None]
        if names:
            return RuledMark(names[0], sum(marks))
        if any(field.follows for field in fields) and ours is not None and ours > sum(marks) + 1e-6:
            return RuledMark(FOLLOWS, sum(marks))
        return None


def client_responses(subject: Subject) -> list[dict[str, Any]]:
    """Return what goes into the interactions of an item for each answer."""
    fields = subject.item.fields
    names = [f"RESPONSE_{n}" if len(fields) > 1 else "RESPONSE" for n in range(1, len(fields) + 1)]
    found = []
    for answer in subject.answers:
        response: dict[str, Any] = {}
        for name, field, one in zip(names, fields, answer, strict=True):
            response |= _response(name, field, one)
        found.append(response)
    return found


def _response(name: str, field: ExportedField, answer: SampleAnswer) -> Mapping[str, Any]:
    match field:
        case ChoiceField(multiple=True):
            return {name: list(answer.picked) or None}
        case ChoiceField():
            return {name: answer.picked[0] if answer.picked else None}
        case OrderField():
            return {name: list(answer.order) or None}
        case MatchField(prompts=prompts):
            rows = {prompt.id: f"P{number:02d}" for number, prompt in enumerate(prompts, start=1)}
            return {name: [f"{rows[p]} T-{identifier_of(t)}" for p, t in answer.pairs] or None}
        case NumbersField(entries=entries) if len(entries) > 1:
            return {f"{name}_{n}": text for n, text in enumerate(answer.entries, start=1)}
        case _:
            return {name: answer.entries[0]}


def _read(text: str) -> Fraction | None:
    """Return a number as both players read it."""
    return Fraction(Decimal(text.strip())) if _DECIMAL.fullmatch(text) else None


def _share(field: ExportedField, answer: SampleAnswer) -> Fraction:
    """Return what the key alone gives for an answer that both read alike: of numbers, entry by entry."""
    if isinstance(field, NumbersField):
        return _numbers_share(field, [_read(text) for text in answer.entries])
    return Fraction(int(answer.what == "right"))


def _numbers_share(field: NumbersField, values: Sequence[Fraction | None]) -> Fraction:
    def lies(value: Fraction | None, low: Decimal, high: Decimal) -> bool:
        return value is not None and Fraction(low) <= value <= Fraction(high)

    total = Fraction(0)
    for group in field.groups:
        pairs = [(field.entries[i], values[i]) for i in group]
        right = [lies(value, entry.lower, entry.upper) for entry, value in pairs]
        near = [
            r or (e.near is not None and lies(v, *e.near)) for r, (e, v) in zip(right, pairs, strict=True)
        ]
        total += 1 if all(right) else Fraction(field.near_credit) if all(near) else 0
    return total / len(field.groups)


def _rule(field: ExportedField, answer: SampleAnswer) -> tuple[str, Fraction] | None:
    """Return the rule by which QTI may mark an answer differently, and the share that it gives then."""
    match field:
        case EssayField():
            return PERSON, Fraction(0)
        case NumbersField():
            values = [_read(text) for text in answer.entries]
            if all(value is not None for value in values):
                # a whole number is refused here if it isn't one
                is_broken = field.whole and any(v is not None and v.denominator != 1 for v in values)
                return (UNREADABLE, _numbers_share(field, values)) if is_broken else None
            rule = SPELLING if answer.what == "spelling" else UNREADABLE
            return rule, _numbers_share(field, values)
        case WordsField():
            spellings = {text.casefold(): share for text, share in accepted_spellings(field).items()}
            share = Fraction(spellings.get(answer.entries[0].casefold(), 0))
            return SPELLING, share
        case OrderField() if None in answer.order:
            return INCOMPLETE, _order_share(field, answer.order)
        case _:
            return None


def _order_share(field: OrderField, order: Sequence[str | None]) -> Fraction:
    if field.policy == "exact":
        return Fraction(0)
    if field.policy == "positions":
        return Fraction(sum(a == b for a, b in zip(order, field.order, strict=True)), len(field.order))
    place = {card: at for at, card in enumerate(order) if card is not None}
    pairs = list(combinations(field.order, 2))
    right = sum(a in place and b in place and place[a] < place[b] for a, b in pairs)
    return max(Fraction(0), Fraction(2 * right - len(pairs), len(pairs)))
