"""Cards to be put in their right order."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from math import factorial
from typing import TYPE_CHECKING

from engine.answers.base import (
    AnswerJudgement,
    AnswerType,
    FieldContext,
    FieldDraft,
    FieldRenderer,
    GuessScore,
    PartSettings,
    letters,
    sum_chances,
)
from engine.answers.options import OptionPool, offered
from engine.answers.reading_options import read_labels, read_pairs, read_texts
from engine.answers.typed_text import format_error
from engine.draws import ImpossibleDraw, RandomStream
from engine.errors import ResponseFormatError
from engine.model import ChoiceOption, Part
from engine.text.words import agree, count_noun, join_words

if TYPE_CHECKING:
    from engine.items import OrderingAnswer

_RULES = {
    "exact": "the whole order must be right",
    "positions": "each card in its place earns its share",
    "pairs": "each pair of cards in the right order earns its share, each in the wrong order costs as much; "
    "never below 0",
}
# 7! = 5040 orders are judged in some tens of milliseconds; from 8 cards on a sample of as many is drawn.
_ENUMERABLE = 7
_SIMULATED = 5_000
# A shuffle of two cards gives the right order every second time: 50 in a row never happen.
_SHUFFLES = 50
# Longer than all cards of a question together.
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class OrderingSettings(PartSettings):
    """Settings of an ordering: its ``policy`` (``exact``, ``positions``, ``pairs``) and its ``feedback``."""

    policy: str = "pairs"
    feedback: str = ""


class Ordering(AnswerType):
    """All letters, first to last."""

    name = "ordering"
    invites_elimination = True
    shows_policy = True

    def draft(self, answer: OrderingAnswer, context: FieldContext) -> FieldDraft:
        """Draft an ordering field; the cards are never shown in their right order."""
        positions = offered(answer.cards, context.names)
        pool = OptionPool(("cards", positions, answer.draw))
        if len(positions) < 2:
            raise ImpossibleDraw(f"an order needs two cards, and this variant has {len(positions)}")

        def build(renderer: FieldRenderer, stream: RandomStream) -> Part:
            right = pool.draw(stream)
            order = stream.shuffled(right)
            for _ in range(_SHUFFLES):
                if order != right:
                    break
                order = stream.shuffled(right)
            names = letters(len(order))
            options = tuple(
                ChoiceOption(name, renderer.text(answer.cards[i].text, "card", inline=True))
                for name, i in zip(names, order, strict=True)
            )
            keys = tuple(names[order.index(i)] for i in right)
            settings = OrderingSettings(answer.policy, renderer.feedback(answer.feedback)).as_json()
            return Part("", answer.type, 1.0, key_ids=keys, options=options, settings=settings)

        return FieldDraft(None, pool.signature, build)

    def parse(self, text: str, part: Part) -> tuple[str, ...]:
        """Return the cards' ids in the order typed."""
        labels = [option.id for option in part.options]
        texts = read_texts(text[:_LONGEST], {option.id: option.text.plain for option in part.options})
        order = texts or _by_place(text, labels) or read_labels(text, labels, "cards", in_order=True)
        twice = sorted({label for label in order if order.count(label) > 1})
        missing = [label for label in labels if label not in order]
        expected = f"each of the {count_noun(len(labels), 'letter')} once, first to last"
        if twice:
            raise format_error(f"card {join_words(twice)} is named more than once", text, expected)
        if missing:
            raise format_error(f"card {join_words(missing)} is missing", text, expected)
        return tuple(order)

    def judge(self, part: Part, answer: tuple[str, ...]) -> AnswerJudgement:
        """Judge an order by the part's policy."""
        key, settings = part.key_ids, OrderingSettings.of(part)
        if answer == key:
            return AnswerJudgement(1, "Right.")
        placed = sum(a == b for a, b in zip(answer, key, strict=True))
        message = (
            f"{placed} of {count_noun(len(key), 'card')} {agree(placed, 'stand')} in the right "
            f"place. {settings.feedback or ''}"
        )
        return AnswerJudgement(_share(settings.policy, key, answer), message.strip())

    def right_responses(self, part: Part) -> list[str]:
        """Return the order with blanks, commas, arrows, and together."""
        keys = part.key_ids
        return [
            " ".join(keys),
            " – ".join(keys),
            ", ".join(keys),
            "".join(keys),
            " > ".join(keys).upper(),
            " -> ".join(keys),
            "-".join(keys),
        ]

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        """Return the reversed order."""
        return [(" ".join(reversed(part.key_ids)), None)]

    def blank_hint(self, part: Part) -> str:
        """Return that all letters are to be put in order."""
        return f"all letters from a to {part.options[-1].id}, first to last"

    def policy(self, part: Part) -> str:
        """Return the scoring rule in one sentence."""
        return _RULES[OrderingSettings.of(part).policy]

    def chance_score(self, part: Part) -> float:
        """Return the mean share of a random order (from 8 cards on, a bound for ``pairs``)."""
        key, policy = part.key_ids, OrderingSettings.of(part).policy
        if policy == "exact":
            return 1 / factorial(len(key))
        if policy == "positions":
            return 1 / len(key)
        sample = key[:_ENUMERABLE]
        total = sum((_share(policy, sample, order) for order in permutations(sample)), Fraction(0))
        return float(total / factorial(len(sample)))

    def guess(self, part: Part) -> GuessScore:
        """Return what a random order earns; simulated, always in the same way, where there are too many."""
        cards = list(part.key_ids)
        is_exact = len(cards) <= _ENUMERABLE
        if is_exact:
            orders = list(permutations(cards))
        else:
            stream = RandomStream(len(cards))
            orders = [tuple(stream.shuffled(cards)) for _ in range(_SIMULATED)]
        shares = (float(self.judge(part, order).fraction) for order in orders)
        return GuessScore(sum_chances((share, 1 / len(orders)) for share in shares), is_exact)

    def key_words(self, part: Part) -> str:
        """Return the cards in their right order."""
        texts = {option.id: option.text.plain for option in part.options}
        return " > ".join(texts[key] for key in part.key_ids)


def _by_place(text: str, labels: list[str]) -> list[str] | None:
    """Return the cards of ``1. c 2. a 3. b`` by their places, None if that isn't what was typed.

    Places may be missing, so that the message about it names the cards.
    """
    try:
        pairs = read_pairs(text)
    except ResponseFormatError:
        return None
    card_at = dict(pairs)
    places = [str(place + 1) for place in range(len(labels))]
    if len(pairs) != len(card_at) or not set(card_at) <= set(places):
        return None
    cards = [card_at[place] for place in places if place in card_at]
    return cards if set(cards) <= set(labels) else None


def _share(policy: str, key: tuple[str, ...], answer: tuple[str, ...]) -> Fraction:
    if policy == "exact":
        return Fraction(int(answer == key))
    if policy == "positions":
        return Fraction(sum(a == b for a, b in zip(answer, key, strict=True)), len(key))
    # Kendall's tau, cut off at 0: half of all pairs come out right by chance, and that should earn nothing.
    place = {card: i for i, card in enumerate(answer)}
    pairs = list(combinations(key, 2))
    right = sum(place[a] < place[b] for a, b in pairs)
    return max(Fraction(0), Fraction(2 * right - len(pairs), len(pairs)))
