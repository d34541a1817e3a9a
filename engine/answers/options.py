"""Options, prompts and cards of which a variant shows some: pools, and what both kinds of choice share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING, Protocol

from engine.answers.base import FieldContext, FieldRenderer, PartSettings
from engine.draws import ImpossibleDraw, RandomStream
from engine.expressions.language import evaluate_truth
from engine.model import Part
from engine.text.words import agree, count_noun

if TYPE_CHECKING:
    from engine.items import MultipleChoiceAnswer, SingleChoiceAnswer

# Of the options that one variant of a multiple choice shows: with more right ones among six or so, ticking
# everything would pay.
MOST_RIGHT = 4


def rekeyed_choice(handed_out: Part) -> Part:
    """Return a choice with the options that are right now as its key; see ``AnswerType.rekeyed``."""
    right = tuple(option.id for option in handed_out.options if option.correct)
    # A question whose options are all right, or all wrong, isn't a question any more.
    if not right or len(right) == len(handed_out.options):
        raise ValueError(f"{'every' if right else 'no'} option that this variant shows is right now")
    return replace(handed_out, key_ids=right)


class ConditionalEntry(Protocol):
    """An entry that may belong to some variants only."""

    @property
    def when(self) -> str | None:
        """The condition, None where the entry always belongs."""
        ...


def offered(entries: Sequence[ConditionalEntry], names: Mapping[str, object]) -> list[int]:
    """Return the positions of the entries that this variant may show.

    Raises
    ------
    engine.errors.ExpressionError
        A condition is faulty.
    """
    # `exact` refuses a condition that a rounding error decides: whether an option is shown, and so what is
    # right, must not hang on the last bit of a float.
    return [
        i
        for i, entry in enumerate(entries)
        if entry.when is None or evaluate_truth(entry.when, names, exact=True)
    ]


class OptionPool:
    """Positions of which a number is drawn, in each of several groups.

    Parameters
    ----------
    groups : sequence of (str, sequence of int, int or None)
        What the group is called in messages, its positions, and how many of them are drawn (None: all).

    Raises
    ------
    ImpossibleDraw
        A group holds fewer positions than are to be drawn.
    """

    def __init__(self, *groups: tuple[str, Sequence[int], int | None]) -> None:
        self._groups = [
            (list(positions), len(positions) if count is None else count) for _, positions, count in groups
        ]
        for (name, _, _), (positions, count) in zip(groups, self._groups, strict=True):
            if count > len(positions):
                raise ImpossibleDraw(f"{count} {name} are to be drawn, and this variant has {len(positions)}")

    def draw(self, stream: RandomStream) -> list[int]:
        """Return the drawn positions in order."""
        # A group of which everything is shown takes nothing from the stream: adding `draw` to one group
        # must not redraw the variants of the other.
        return sorted(
            position
            for positions, count in self._groups
            for position in (positions if count == len(positions) else stream.sample(positions, count))
        )

    @property
    def signature(self) -> tuple[str, int, tuple[int, ...]]:
        """``"pool"``, the number of selections, and what is drawn from; used as ``FieldDraft.signature``."""
        selections = 1
        for positions, count in self._groups:
            selections *= comb(len(positions), count)
        return "pool", selections, tuple(position for positions, _ in self._groups for position in positions)


class MixedPool:
    """Right and wrong options of which each variant shows equally many; how many of them are right differs.

    One to four are right, as far as the pool has them; each number is equally likely, so that neither the
    item nor other items of its kind reveal how many to pick.

    Parameters
    ----------
    right, wrong : sequence of int
        Positions of the right and of the wrong options.
    count : int
        How many options a variant shows.

    Raises
    ------
    ImpossibleDraw
        The pool holds fewer options, or all that a variant shows would be right, or wrong.
    """

    def __init__(self, right: Sequence[int], wrong: Sequence[int], count: int) -> None:
        self.right_counts = range(max(1, count - len(wrong)), min(MOST_RIGHT, len(right), count - 1) + 1)
        if not self.right_counts:
            raise ImpossibleDraw(
                f"{count_noun(count, 'option')} {agree(count, 'are')} to be drawn, and this variant has "
                f"{len(right)} right and {len(wrong)} wrong"
            )
        self._pools = [
            OptionPool(("right options", right, n), ("wrong options", wrong, count - n))
            for n in self.right_counts
        ]

    def draw(self, stream: RandomStream) -> list[int]:
        """Return the drawn positions in order."""
        # First how many are right, then which: so each number is equally likely, however large the pool.
        return stream.choice(self._pools).draw(stream)

    @property
    def signature(self) -> tuple[str, int, tuple[int, ...]]:
        """As :attr:`OptionPool.signature`."""
        _, _, positions = self._pools[0].signature
        return "pool", sum(pool.signature[1] for pool in self._pools), positions


class WrittenOptions:
    """Options written by hand: which of them a variant may show, and how it shows them.

    Parameters
    ----------
    answer : SingleChoiceAnswer or MultipleChoiceAnswer
        With ``options``.
    context : FieldContext
    requirement : str
        What the error says where no right or no wrong option remains.

    Attributes
    ----------
    right : list of int
        Positions of the right options.
    pool : OptionPool or MixedPool

    Raises
    ------
    ImpossibleDraw
        There are fewer options than ``draw`` asks for, or none right or none wrong.
    """

    def __init__(
        self, answer: SingleChoiceAnswer | MultipleChoiceAnswer, context: FieldContext, requirement: str
    ) -> None:
        positions = offered(answer.options, context.names)
        self._answer = answer
        self.right = [i for i in positions if answer.options[i].correct]
        wrong = [i for i in positions if not answer.options[i].correct]
        self.pool: OptionPool | MixedPool
        if isinstance(answer.draw, int):
            self.pool = MixedPool(self.right, wrong, answer.draw)
        else:
            counts = answer.draw or (None, None)
            self.pool = OptionPool(
                ("right options", self.right, counts[0]), ("wrong options", wrong, counts[1])
            )
        if not self.right or not wrong:
            raise ImpossibleDraw(requirement)

    def builder(self, settings: PartSettings) -> Callable[[FieldRenderer, RandomStream], Part]:
        """Return the draft's ``build``, which draws, orders and letters the options."""
        answer, pool = self._answer, self.pool

        def build(renderer: FieldRenderer, stream: RandomStream) -> Part:
            drawn = pool.draw(stream)
            order = stream.shuffled(drawn) if answer.shuffle else drawn
            options = renderer.options([answer.options[i] for i in order])
            keys = tuple(option.id for option in options if option.correct)
            return Part("", answer.type, 1.0, key_ids=keys, options=options, settings=settings.as_json())

        return build
