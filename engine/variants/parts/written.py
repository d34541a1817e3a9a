"""Options written by hand, all shown or drawn from a pool: what single and multiple choice share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.model import Part
from engine.spec.schema import MultipleChoiceAnswer, SingleChoiceAnswer
from engine.variants.parameters import ImpossibleDraw
from engine.variants.parts.draft import FieldContext, Scribe
from engine.variants.parts.pool import MixedPool, Pool, offered
from engine.variants.stream import Stream

__all__ = ["WrittenOptions"]


class WrittenOptions:
    """The options that a variant may show, and how it shows them.

    Parameters
    ----------
    answer : SingleChoiceAnswer or MultipleChoiceAnswer
        With ``options``.
    context : FieldContext
    needed : str
        What is said where no right or no wrong option is left.

    Attributes
    ----------
    right : list of int
        Positions of the right options.
    pool : Pool or MixedPool

    Raises
    ------
    ImpossibleDraw
        There are fewer options than ``draw`` asks for, or none right or none wrong.
    """

    def __init__(
        self, answer: SingleChoiceAnswer | MultipleChoiceAnswer, context: FieldContext, needed: str
    ) -> None:
        there = offered(answer.options, context.names)
        self._answer = answer
        self.right = [i for i in there if answer.options[i].correct]
        wrong = [i for i in there if not answer.options[i].correct]
        self.pool: Pool | MixedPool
        if isinstance(answer.draw, int):
            self.pool = MixedPool(self.right, wrong, answer.draw)
        else:
            take = answer.draw or (None, None)
            self.pool = Pool(("right options", self.right, take[0]), ("wrong options", wrong, take[1]))
        if not self.right or not wrong:
            raise ImpossibleDraw(needed)

    def builder(self, settings: Mapping[str, Any]) -> Callable[[Scribe, Stream], Part]:
        """Return the draft's ``build``, which draws, orders and letters the options."""
        answer, pool = self._answer, self.pool

        def build(scribe: Scribe, stream: Stream) -> Part:
            chosen = pool.draw(stream)
            order = stream.shuffled(chosen) if answer.shuffle else chosen
            options = scribe.options([answer.options[i] for i in order])
            keys = tuple(option.id for option in options if option.correct)
            return Part("", answer.type, 1.0, key_ids=keys, options=options, settings=settings)

        return build
