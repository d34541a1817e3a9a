"""Moodle, by its own rules, and GIFT's parser as clients of the same-mark table.

Moodle itself can't be installed for a test. What it makes of a file is computed by ``tests/oracles``, from
how it imports and grades. The rules below say what mark a difference must give, from our own fields alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

from docs.generators.same_marks import RuledMark, Subject
from engine.answers import answer_type
from engine.errors import ResponseFormatError
from engine.export.exported_fields import (
    ChoiceField,
    ExportedField,
    MatchField,
    NumbersField,
    OrderField,
    WordsField,
)
from engine.export.exported_item import ExportedQuiz
from engine.export.formats import quiz_format
from engine.export.moodle_cloze import accepted_ways
from tests.clients.sample_answers import SampleAnswer
from tests.oracles.gift_client import gift_questions, parsed_gift
from tests.oracles.moodle_marks import (
    choice_mark,
    cloze_mark,
    match_mark,
    number_mark,
    order_mark,
    text_mark,
    typed_value,
)
from tests.oracles.moodle_rules import MoodleQuestion, imported

__all__ = ["GiftClient", "MoodleClient", "moodle_clients"]

READING, LISTED, ENTRIES = "numbers there", "listed texts", "entry by entry"
SUM, PAIRS, UNTOUCHED, EACH_PAIR = "shares added", "no penalty for pairs", "untouched cards", "pair by pair"
PLACES, FOLLOWS, PERSON, CASE = "places", "key only", "graded by hand", "no capitals"
RULES = {
    READING: "Moodle reads a plain decimal at the beginning of what is typed: a comma separates thousands, "
    "and what follows the number is ignored. We read fractions, percent signs and decimal commas, and "
    "refuse what we can't read, at no cost.",
    LISTED: "Moodle accepts the texts that the question lists; we read tokens with anything between them.",
    ENTRIES: "each entry of a vector or matrix earns its share in Moodle, also where all must be right.",
    SUM: "Moodle adds up the shares of what is picked; all or nothing and share found times share right are "
    "only near that.",
    PAIRS: "Moodle's rule for pairs of cards takes nothing off: a share of s here is (s + 1) / 2 there, and "
    "what is below 0 here counts there.",
    UNTOUCHED: "Moodle marks all cards, also those that nobody has moved; we refuse an order that lacks one.",
    EACH_PAIR: "each right pair earns its share in Moodle, also where all must be right.",
    PLACES: "GIFT has no orders: a place is picked for each card, and each in its place earns its share.",
    FOLLOWS: "we also mark a step with the student's own earlier values; Moodle knows only the key.",
    PERSON: "a person marks words, here and there; until then there is no mark.",
    CASE: "GIFT can't say that capitals matter.",
}
Prediction = tuple[Fraction, str]
"""A share of a field's points, and the rule that may make it differ from ours."""


class _MoodleMarks:
    """What both files have in common: what their rules predict."""

    name = ""
    format_name = ""
    rules: Mapping[str, str] = RULES
    # Moodle keeps seven decimals of a share, so that three thirds are 0.9999999.
    tolerance = 1e-5

    def carries(self, subject: Subject) -> bool:
        """Return whether the format takes the item."""
        return not any(loss.is_refusal for loss in self._format.losses(subject.family))

    def __init__(self) -> None:
        self._format = quiz_format(self.format_name)

    def expected(
        self, subject: Subject, answer: Sequence[SampleAnswer], ours: float | None
    ) -> RuledMark | None:
        """Return the mark that a rule gives, where it differs from ours."""
        mark, names = 0.0, []
        for field, share, one in zip(subject.item.fields, subject.item.shares(), answer, strict=True):
            predicted, rule = self.predicted(field, one)
            mark += subject.item.points * share * float(predicted)
            own = _own_share(field, one)
            # what waits for a person has no share of ours yet
            if own is None or rule == PERSON or abs(own - float(predicted)) > self.tolerance:
                names.append(rule)
        if ours is not None and abs(mark - ours) <= self.tolerance:
            return None  # whatever rules were at work
        is_followed = any(field.follows for field in subject.item.fields)
        return RuledMark(names[0] if names else FOLLOWS if is_followed else "", mark)

    def predicted(self, field: ExportedField, answer: SampleAnswer) -> Prediction:
        """Return what the format's rules give for an answer to a field."""
        match field:
            case ChoiceField(multiple=False):
                right = {option.id for option in field.options if option.correct}
                return Fraction(int(bool(set(answer.picked) & right))), ""
            case ChoiceField():
                return _several(field, answer), SUM
            case OrderField():
                return self.order(field, answer)
            case MatchField():
                hits = sum(field.pairs[prompt] == target for prompt, target in answer.pairs)
                return Fraction(hits, len(field.prompts)), EACH_PAIR
            case NumbersField():
                return _numbers(field, answer)
            case WordsField():
                return self.words(field, answer)
        return Fraction(0), PERSON

    def order(self, field: OrderField, answer: SampleAnswer) -> Prediction:
        """Return what an order earns."""
        order = _full_order(field, answer)
        is_moved = None not in answer.order and bool(answer.order)
        placed = Fraction(sum(a == b for a, b in zip(order, field.order, strict=True)), len(order))
        if field.policy == "positions":
            return placed, UNTOUCHED
        if field.policy == "exact":
            return Fraction(int(placed == 1)), UNTOUCHED
        place = {card: n for n, card in enumerate(order)}
        pairs = list(combinations(field.order, 2))
        return Fraction(
            sum(place[a] < place[b] for a, b in pairs), len(pairs)
        ), PAIRS if is_moved else UNTOUCHED

    def words(self, field: WordsField, answer: SampleAnswer) -> Prediction:
        """Return what a text earns."""
        return _listed_share(answer, accepted_ways(field), is_cased=field.case_sensitive), LISTED


def _listed_share(answer: SampleAnswer, ways: Mapping[str, Fraction], *, is_cased: bool) -> Fraction:
    typed = answer.entries[0].strip()
    if is_cased:
        return ways.get(typed, Fraction(0))
    return {way.lower(): share for way, share in reversed(ways.items())}.get(typed.lower(), Fraction(0))


def _own_share(field: ExportedField, answer: SampleAnswer) -> float | None:
    """Return what we give for a field by itself, None where we refuse the answer."""
    try:
        return answer_type(field.part.type).grade(field.part, answer.text).points / field.points
    except ResponseFormatError:
        return None


def _several(field: ChoiceField, answer: SampleAnswer) -> Fraction:
    right = {option.id for option in field.options if option.correct}
    hits, false = len(right & set(answer.picked)), len(set(answer.picked) - right)
    count = len(right)
    if field.policy == "each-answer":
        wrong = count - hits + false
        return 1 - Fraction(wrong, len(field.options)) if answer.picked else Fraction(0)
    penalty = {"exact": Fraction(1), "coverage": Fraction(1, count + 1)}.get(field.policy, Fraction(1, count))
    return min(Fraction(1), max(Fraction(0), Fraction(hits, count) - false * penalty))


def _full_order(field: OrderField, answer: SampleAnswer) -> list[str]:
    """Return an order of all cards: those that have no place come last, as they are shown."""
    placed = [card for card in answer.order if card is not None]
    return [*placed, *(card.id for card in field.cards if card.id not in placed)]


def _numbers(field: NumbersField, answer: SampleAnswer) -> Prediction:
    total = Fraction(0)
    for entry, text in zip(field.entries, answer.entries, strict=True):
        value = typed_value(text)
        # the shortest decimal of the double that Moodle compares
        number = None if value is None else Decimal(repr(value))
        if number is not None and entry.lower <= number <= entry.upper:
            total += 1
        elif number is not None and entry.near is not None and entry.near[0] <= number <= entry.near[1]:
            total += Fraction(field.near_credit)
    is_plain = all(_is_decimal(text) for text in answer.entries)
    return total / len(field.entries), ENTRIES if is_plain and len(field.entries) > 1 else READING


def _is_decimal(text: str) -> bool:
    return text.strip().lstrip("+-").replace(".", "", 1).isdecimal()


class MoodleClient(_MoodleMarks):
    """Moodle 4.5 and 5, by the rules of their import and grading."""

    name, format_name = "Moodle XML", "moodle"

    def marks(self, subject: Subject) -> list[float]:
        """Return Moodle's marks of all answers."""
        found = imported(self._format.write(ExportedQuiz("marks", "Marks", (subject.family,)), lambda: None))
        assert found.problems == []
        (question,) = found.questions
        return [subject.item.points * _moodle_share(subject, question, answer) for answer in subject.answers]


def _moodle_share(subject: Subject, question: MoodleQuestion, answer: Sequence[SampleAnswer]) -> float:
    fields = subject.item.fields
    if question.kind == "cloze":
        responses = [
            r for field, one in zip(fields, answer, strict=True) for r in _cloze_responses(field, one)
        ]
        return cloze_mark(question.fields, responses)[0]
    return _question_share(fields[0], question, answer[0])


def _cloze_responses(field: ExportedField, answer: SampleAnswer) -> Sequence[str | Sequence[int]]:
    match field:
        case NumbersField() | WordsField():
            return answer.entries
        case ChoiceField(multiple=True, policy="each-answer"):
            # whoever picks something calls the other options wrong; whoever picks nothing decides nothing
            return [
                [int(option.id not in answer.picked)] if answer.picked else [] for option in field.options
            ]
        case ChoiceField():
            return [[n for n, option in enumerate(field.options) if option.id in answer.picked]]
        case MatchField():
            ids = [target.id for target in field.targets]
            chosen = dict(answer.pairs)
            return [[ids.index(chosen[p.id])] if p.id in chosen else [] for p in field.prompts]
        case OrderField():
            ids = [card.id for card in field.cards]
            return [[] if card is None else [ids.index(card)] for card in answer.order]
    raise TypeError(type(field).__name__)


def _question_share(field: ExportedField, question: MoodleQuestion, answer: SampleAnswer) -> float:
    match field:
        case ChoiceField():
            picked = [n for n, option in enumerate(field.options) if option.id in answer.picked]
            return choice_mark(question.answers, picked, single=question.single)
        case MatchField():
            texts = {target.id: target.text.plain for target in field.targets}
            chosen = dict(answer.pairs)
            return match_mark(question, [texts.get(chosen.get(p.id, "")) for p in field.prompts])
        case OrderField():
            return order_mark(question, [field.order.index(card) for card in _full_order(field, answer)])
        case NumbersField():
            return number_mark(question.answers, answer.entries[0])[0]
        case WordsField():
            return text_mark(question.answers, answer.entries[0], usecase=question.usecase)[0]
    return 0.0


class GiftClient(_MoodleMarks):
    """GIFT as gift-pegjs parses it, marked by Moodle's rules."""

    name, format_name = "GIFT", "gift"

    def marks(self, subject: Subject) -> list[float]:
        """Return the marks of all answers, each question of a field counting the same."""
        text = self._format.write(ExportedQuiz("marks", "Marks", (subject.family,)), lambda: None).decode()
        (tree,) = parsed_gift([text])
        questions = gift_questions(tree["questions"])
        return [self._mark(subject, list(questions), answer) for answer in subject.answers]

    def _mark(
        self, subject: Subject, questions: list[MoodleQuestion], answer: Sequence[SampleAnswer]
    ) -> float:
        mark = 0.0
        for field, worth, one in zip(subject.item.fields, subject.item.shares(), answer, strict=True):
            if isinstance(field, NumbersField) and field.shape:
                entries = [questions.pop(0) for _ in field.entries]
                pairs = zip(entries, one.entries, strict=True)
                share = sum(number_mark(q.answers, text)[0] for q, text in pairs) / len(entries)
            else:
                share = _gift_share(field, questions.pop(0), one)
            mark += subject.item.points * worth * share
        assert not questions
        return mark

    def order(self, field: OrderField, answer: SampleAnswer) -> Prediction:
        """Return the share of cards in their place; a place without a card earns nothing."""
        hits = sum(a == b for a, b in zip(answer.order, field.order, strict=False))
        return Fraction(hits, len(field.order)), PLACES

    def words(self, field: WordsField, answer: SampleAnswer) -> Prediction:
        """Return what a text earns, where no answer may hold an arrow of two signs."""
        ways = {way: share for way, share in accepted_ways(field).items() if "->" not in way}
        cased, uncased = (_listed_share(answer, ways, is_cased=is_cased) for is_cased in (True, False))
        return uncased, CASE if field.case_sensitive and cased != uncased else LISTED


def _gift_share(field: ExportedField, question: MoodleQuestion, answer: SampleAnswer) -> float:
    if isinstance(field, OrderField):
        texts = {card.id: card.text.plain for card in field.cards}
        order = [*answer.order, *[None] * (len(field.order) - len(answer.order))]
        return match_mark(question, [None if card is None else texts[card] for card in order])
    if isinstance(field, ChoiceField) and field.multiple and field.policy == "each-answer":
        words = ["right" if option.id in answer.picked else "wrong" for option in field.options]
        return match_mark(question, words if answer.picked else [None] * len(words))
    return _question_share(field, question, answer)


def moodle_clients() -> list[MoodleClient | GiftClient]:
    """Return both."""
    return [MoodleClient(), GiftClient()]
