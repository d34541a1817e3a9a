"""Multiple choice: several right options, all shown or drawn from a pool."""

from __future__ import annotations

from math import comb

from engine.model import Part
from engine.spec.schema import MultipleChoiceAnswer
from engine.variants.parameters import ImpossibleDraw
from engine.variants.parts.draft import Draft, FieldContext, Scribe
from engine.variants.stream import Stream

__all__ = ["draft"]


def draft(answer: MultipleChoiceAnswer, context: FieldContext) -> Draft:
    """Draft a multiple-choice field.

    Raises
    ------
    ImpossibleDraw
        The pool can't give what ``draw`` asks for, or no or every option is right.
    """
    right = [i for i, option in enumerate(answer.options) if option.correct]
    wrong = [i for i, option in enumerate(answer.options) if not option.correct]
    take = answer.draw or (len(right), len(wrong))
    if take[0] > len(right) or take[1] > len(wrong):
        raise ImpossibleDraw(f"the pool holds {len(right)} right and {len(wrong)} wrong options, not {take}")
    if not take[0] or not take[1]:
        raise ImpossibleDraw("at least one right and one wrong option are needed")

    def build(scribe: Scribe, stream: Stream) -> Part:
        chosen = sorted(stream.sample(right, take[0]) + stream.sample(wrong, take[1]))
        order = stream.shuffled(chosen) if answer.shuffle else chosen
        options = scribe.options([answer.options[i] for i in order])
        keys = tuple(option.id for option in options if option.correct)
        settings = {"policy": answer.policy}
        return Part("", answer.type, 1.0, key_ids=keys, options=options, settings=settings)

    pools = comb(len(right), take[0]) * comb(len(wrong), take[1])
    return Draft(None, ("pool", pools), build)
