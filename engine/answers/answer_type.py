"""What every answer type does, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import Any, Protocol

from engine.draws.parameters import ImpossibleDraw
from engine.draws.stream import RandomStream
from engine.expressions.language import evaluate_truth
from engine.items import ItemMisconception, MultipleChoiceAnswer, OptionSpec, SingleChoiceAnswer
from engine.model import Check, ChoiceOption, Diagnosis, Part, RenderedText, Verdict
from engine.prose.text import render_text
from engine.text.words import agree, count_noun

__all__ = [
    "AnswerJudgement",
    "AnswerType",
    "ConditionalEntry",
    "FieldContext",
    "FieldDraft",
    "FieldRenderer",
    "MixedPool",
    "OptionPool",
    "PartResult",
    "WrittenOptions",
    "blank_result",
    "letters",
    "offered",
]


@dataclass(frozen=True, slots=True)
class AnswerJudgement:
    """How an answer was judged, before points.

    Parameters
    ----------
    fraction : Fraction or float
        Share of the full marks, 0 to 1.
    message : str
        What was right and what wasn't; never the key.
    diagnosis : tuple of Diagnosis
    notes : tuple of str
        Errata and the like.
    checks : tuple of Check
        Further criteria, without points of their own.
    """

    fraction: Fraction | float
    message: str
    diagnosis: tuple[Diagnosis, ...] = ()
    notes: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class PartResult:
    """The marks of one part.

    Parameters
    ----------
    part : str
        Its id.
    points, max_points : float
    message : str
    diagnosis, notes
        As in :class:`AnswerJudgement`.
    checks : tuple of Check
        The part's own check first.
    is_blank : bool
        Nothing was entered.
    """

    part: str
    points: float
    max_points: float
    message: str
    diagnosis: tuple[Diagnosis, ...] = ()
    notes: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    is_blank: bool = False

    @property
    def is_full(self) -> bool:
        """Whether it earned full marks."""
        return self.points >= self.max_points


class AnswerType:
    """One type of answer; a file of this package holds each, and the registry knows them by name.

    The methods take a part and never change it.  ``parse`` raises
    :class:`engine.errors.ResponseFormatError` for what can't be read.
    """

    name = ""
    shows_policy = False
    """Whether the scoring rule is shown beside the field: where guessing or leaving out is a decision."""

    def parse(self, text: str, part: Part) -> Any:
        """Return what was entered, in the type's own form.

        Raises
        ------
        engine.errors.ResponseFormatError
            It can't be read; costs no attempt.
        """
        raise NotImplementedError

    def judge(self, part: Part, answer: Any) -> AnswerJudgement:
        """Judge what :meth:`parse` returned."""
        raise NotImplementedError

    def right_responses(self, part: Part) -> list[str]:
        """Return the key in every notation that must be accepted, the usual one first."""
        raise NotImplementedError

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        """Return what each known mistake would enter, with its misconception id."""
        return []

    def blank_hint(self, part: Part) -> str:
        """Return in a few words what is to be entered."""
        raise NotImplementedError

    def policy(self, part: Part) -> str:
        """Return how the part is scored, in one sentence."""
        return "all or nothing"

    def chance_score(self, part: Part) -> float:
        """Return the share of the marks that blind guessing earns on average."""
        return 0.0

    def observe(self, part: Part, text: str) -> tuple[Diagnosis, ...]:
        """Return what can be said of an answer that :meth:`parse` refuses."""
        return ()

    def grade(self, part: Part, text: str) -> PartResult:
        """Mark an answer as it was typed; a blank one gets 0.

        Raises
        ------
        engine.errors.ResponseFormatError
            It can't be read.
        """
        return self.mark(part, self.parse(text, part)) if text.strip() else blank_result(part)

    def mark(self, part: Part, answer: Any) -> PartResult:
        """Mark what :meth:`parse` returned."""
        graded = self.judge(part, answer)
        full = graded.fraction >= 1
        # A third of a point doesn't survive rounding: full marks are the part's own, to the last bit.
        points = part.points if full else round(float(graded.fraction) * part.points, 9)
        verdict = Verdict.PASSED if full else Verdict.FAILED
        own = Check(part.id, verdict, points, part.points, graded.message)
        return PartResult(
            part.id,
            points,
            part.points,
            graded.message,
            graded.diagnosis,
            graded.notes,
            (own, *graded.checks),
        )


def blank_result(part: Part) -> PartResult:
    """Return the result of an empty field: 0, whatever the policy."""
    check = Check(part.id, Verdict.FAILED, 0.0, part.points, "No answer.")
    return PartResult(part.id, 0.0, part.points, check.message, checks=(check,), is_blank=True)


# ----------------------------------------------------------------------------------------------------
# What the part builders share: the context in which a field is drafted, and the draft itself.
#
# A draft has all numbers of a field and none of its texts, so that rejected tries and the count
# of a family's keys don't pay for rendering.


@dataclass(frozen=True, slots=True)
class FieldContext:
    """What one field is drafted from.

    Parameters
    ----------
    names : mapping of str to value
        Drawn parameters, derived values and the keys of earlier steps.
    derived : mapping of str to str
        The derived values' expressions, in order.
    misconceptions : tuple of ItemMisconception
        Those of the field.
    carried : mapping of str to tuple of float
        Earlier steps, and how far each entry of a right answer may lie from the key.
    accepted : tuple of mapping
        Printed options that an erratum accepts, see :mod:`engine.variants.draw`.
    """

    names: Mapping[str, Any]
    derived: Mapping[str, str] = field(default_factory=dict)
    misconceptions: tuple[ItemMisconception, ...] = ()
    carried: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    accepted: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class FieldRenderer:
    """Renders a field's texts and looks up its feedback.

    Parameters
    ----------
    names : mapping of str to value or Drawn
        What stems and options may show.
    answers : mapping of str to value
        What feedback may show besides: the key and the steps' keys.
    registry : mapping of str to str
        Feedback sentence by misconception id.
    """

    names: Mapping[str, Any]
    answers: Mapping[str, Any]
    registry: Mapping[str, str]

    def text(self, template: str, where: str, *, inline: bool = False) -> RenderedText:
        """Return a text that may show drawn and derived values."""
        return render_text(template, self.names, inline=inline, where=where)

    def feedback(self, own: str | None, misconception: str | None = None) -> str:
        """Return own feedback, or the registry's sentence, or nothing."""
        template = own or self.registry.get(misconception or "", "")
        if not template:
            return ""
        return render_text(template, {**self.names, **self.answers}, inline=True, where="feedback").plain

    def options(self, written: Sequence[OptionSpec]) -> tuple[ChoiceOption, ...]:
        """Return options of the spec, in this order, with letters."""
        return tuple(
            ChoiceOption(
                name,
                self.text(option.text, "option", inline=True),
                correct=option.correct,
                misconception=option.misconception,
                feedback=self.feedback(option.feedback, option.misconception),
            )
            for name, option in zip(letters(len(written)), written, strict=True)
        )


@dataclass(frozen=True, slots=True)
class FieldDraft:
    """The numbers of one field.

    Parameters
    ----------
    value : value
        The key, as later expressions see it.
    signature : hashable
        Equal for variants that have the same answer; counts a family's keys.
    build : callable
        ``build(scribe, stream) -> Part``, with an empty id; the stream orders the options.
    places : sequence of int or None
        Decimal places to which the key is asked.
    half_widths : tuple of float
        How far each entry of a right answer may lie from the key.
    exact : tuple of bool
        Whether nobody loses anything on the way to an entry and by writing it down.
    """

    value: Any
    signature: Any
    build: Callable[[FieldRenderer, RandomStream], Part]
    places: Sequence[int | None] = ()
    half_widths: tuple[float, ...] = ()
    exact: tuple[bool, ...] = ()


def letters(count: int) -> list[str]:
    """Return ``a``, ``b`` …; a ValueError for more than 26 options."""
    if count > 26:
        raise ValueError("there are letters for 26 options only")
    return [chr(ord("a") + i) for i in range(count)]


# ----------------------------------------------------------------------------------------------------
# Pools: options, prompts and cards of which each variant shows some.

MOST_RIGHT = 4  # of the options that one variant of a multiple choice shows


class ConditionalEntry(Protocol):
    """An entry that may belong to some variants only."""

    @property
    def when(self) -> str | None:
        """The condition, None where the entry always belongs."""
        ...


def offered(entries: Sequence[ConditionalEntry], names: Mapping[str, Any]) -> list[int]:
    """Return the positions of the entries that this variant may show.

    Raises
    ------
    engine.errors.ExpressionError
        A condition is faulty.
    """
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
            (name, list(there), len(there) if take is None else take) for name, there, take in groups
        ]
        for name, there, take in self._groups:
            if take > len(there):
                raise ImpossibleDraw(f"{take} {name} are to be drawn, and this variant has {len(there)}")

    def draw(self, stream: RandomStream) -> list[int]:
        """Return the drawn positions in order."""
        return sorted(
            position
            for _, there, take in self._groups
            for position in (there if take == len(there) else stream.sample(there, take))
        )

    @property
    def signature(self) -> tuple[str, int, tuple[int, ...]]:
        """``"pool"``, the number of selections, and what is drawn from: see :class:`Draft`."""
        count = 1
        for _, there, take in self._groups:
            count *= comb(len(there), take)
        return "pool", count, tuple(position for _, there, _ in self._groups for position in there)


class MixedPool:
    """Right and wrong options of which each variant shows equally many; how many of them are right differs.

    One to four are right, as far as the pool has them; each number is equally likely, so that neither the
    item nor other items of its kind tell how many to pick.

    Parameters
    ----------
    right, wrong : sequence of int
        Positions of the right and of the wrong options.
    shown : int
        How many options a variant shows.

    Raises
    ------
    ImpossibleDraw
        The pool holds fewer options, or all that a variant shows would be right, or wrong.
    """

    def __init__(self, right: Sequence[int], wrong: Sequence[int], shown: int) -> None:
        self.counts = range(max(1, shown - len(wrong)), min(MOST_RIGHT, len(right), shown - 1) + 1)
        if not self.counts:
            raise ImpossibleDraw(
                f"{count_noun(shown, 'option')} {agree(shown, 'are')} to be drawn, and this variant has "
                f"{len(right)} right and {len(wrong)} wrong"
            )
        self._pools = [
            OptionPool(("right options", right, count), ("wrong options", wrong, shown - count))
            for count in self.counts
        ]

    def draw(self, stream: RandomStream) -> list[int]:
        """Return the drawn positions in order."""
        return stream.choice(self._pools).draw(stream)

    @property
    def signature(self) -> tuple[str, int, tuple[int, ...]]:
        """As :attr:`Pool.signature`."""
        _, _, there = self._pools[0].signature
        return "pool", sum(pool.signature[1] for pool in self._pools), there


# ----------------------------------------------------------------------------------------------------
# Options written by hand, all shown or drawn from a pool: what single and multiple choice share.


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
    pool : OptionPool or MixedPool

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
        self.pool: OptionPool | MixedPool
        if isinstance(answer.draw, int):
            self.pool = MixedPool(self.right, wrong, answer.draw)
        else:
            take = answer.draw or (None, None)
            self.pool = OptionPool(("right options", self.right, take[0]), ("wrong options", wrong, take[1]))
        if not self.right or not wrong:
            raise ImpossibleDraw(needed)

    def builder(self, settings: Mapping[str, Any]) -> Callable[[FieldRenderer, RandomStream], Part]:
        """Return the draft's ``build``, which draws, orders and letters the options."""
        answer, pool = self._answer, self.pool

        def build(scribe: FieldRenderer, stream: RandomStream) -> Part:
            chosen = pool.draw(stream)
            order = stream.shuffled(chosen) if answer.shuffle else chosen
            options = scribe.options([answer.options[i] for i in order])
            keys = tuple(option.id for option in options if option.correct)
            return Part("", answer.type, 1.0, key_ids=keys, options=options, settings=settings)

        return build
