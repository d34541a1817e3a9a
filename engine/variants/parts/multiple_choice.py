"""Multiple choice: several right options, all shown or drawn from a pool."""

from __future__ import annotations

from engine.model import Part
from engine.spec.schema import MultipleChoiceAnswer
from engine.variants.parameters import ImpossibleDraw
from engine.variants.parts.draft import Draft, FieldContext, Scribe
from engine.variants.parts.pool import Pool, offered
from engine.variants.stream import Stream

__all__ = ["draft"]


def draft(answer: MultipleChoiceAnswer, context: FieldContext) -> Draft:
    """Draft a multiple-choice field.

    Raises
    ------
    ImpossibleDraw
        The pool can't give what ``draw`` asks for, or no or every option is right.
    """
    there = offered(answer.options, context.names)
    right = [i for i in there if answer.options[i].correct]
    wrong = [i for i in there if not answer.options[i].correct]
    take = answer.draw or (None, None)
    pool = Pool(("right options", right, take[0]), ("wrong options", wrong, take[1]))
    if not right or not wrong:
        raise ImpossibleDraw("at least one right and one wrong option are needed")

    def build(scribe: Scribe, stream: Stream) -> Part:
        chosen = pool.draw(stream)
        order = stream.shuffled(chosen) if answer.shuffle else chosen
        options = scribe.options([answer.options[i] for i in order])
        keys = tuple(option.id for option in options if option.correct)
        settings = {"policy": answer.policy}
        return Part("", answer.type, 1.0, key_ids=keys, options=options, settings=settings)

    return Draft(None, pool.signature, build)
