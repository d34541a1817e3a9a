"""Ordering: cards to be put in their right order."""

from __future__ import annotations

from engine.model import Option, Part
from engine.spec.schema import OrderingAnswer
from engine.variants.parameters import ImpossibleDraw
from engine.variants.parts.draft import Draft, FieldContext, Scribe, letters
from engine.variants.parts.pool import Pool, offered
from engine.variants.stream import Stream

__all__ = ["draft"]

_TRIES = 50


def draft(answer: OrderingAnswer, context: FieldContext) -> Draft:
    """Draft an ordering field; the cards are never shown in their right order.

    Raises
    ------
    ImpossibleDraw
        There are fewer cards than ``draw`` asks for, or fewer than two.
    """
    there = offered(answer.cards, context.names)
    pool = Pool(("cards", there, answer.draw))
    if len(there) < 2:
        raise ImpossibleDraw(f"an order needs two cards, and this variant has {len(there)}")

    def build(scribe: Scribe, stream: Stream) -> Part:
        right = pool.draw(stream)
        order = stream.shuffled(right)
        for _ in range(_TRIES):
            if order != right:
                break
            order = stream.shuffled(right)
        names = letters(len(order))
        options = tuple(
            Option(name, scribe.text(answer.cards[i].text, "card", inline=True))
            for name, i in zip(names, order, strict=True)
        )
        keys = tuple(names[order.index(i)] for i in right)
        settings = {"policy": answer.policy, "feedback": scribe.feedback(answer.feedback)}
        return Part("", answer.type, 1.0, key_ids=keys, options=options, settings=settings)

    return Draft(None, pool.signature, build)
