"""What every answer type does: draft its field, read what people type, judge it, and explain.

One file of this package holds everything of one type; :mod:`engine.answers` finds it by name.  A type
implements ``draft`` (item to field), ``parse`` (text to answer), ``judge`` (answer to share of the marks),
``right_responses`` and ``blank_hint``; the other methods have a default.  Turning a share into points is the
same for all types, and is done here once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, cast

from engine.draws import RandomStream
from engine.expressions.language import evaluate
from engine.model import (
    Check,
    ChoiceOption,
    Diagnosis,
    KnownWrong,
    Part,
    RenderedText,
    RubricMarks,
    Verdict,
)

if TYPE_CHECKING:
    from engine.items import ItemMisconception, OptionSpec
    from engine.items.field_types import StrictModel


@dataclass(frozen=True, slots=True)
class PartSettings:
    """Base of the settings of each answer type: a frozen dataclass in the type's own file.

    A variant keeps them as plain JSON, so that a store can be read without its answer types, and so that
    what an older version wrote is never lost: a key that it didn't know has the default here.

    Examples
    --------
    >>> from engine.answers.ordering import OrderingSettings
    >>> OrderingSettings.of(Part("answer", "ordering", 1.0, settings={"policy": "exact"})).policy
    'exact'
    """

    # Settings that most parts don't have: left out of the JSON while empty, as older versions did.
    omit_empty: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def of(cls, part: Part) -> Self:
        """Return the settings of a part."""
        stored = part.settings
        known = _TYPED.get((cls, id(stored)))
        if known is not None and known[0] is stored:
            return cast("Self", known[1])
        names = _names(cls)
        typed = cls(
            **{
                name: tuple(value) if isinstance(value, list) else value
                for name, value in stored.items()
                if name in names
            }
        )
        if len(_TYPED) >= _MOST_TYPED:
            _TYPED.clear()
        _TYPED[cls, id(stored)] = (stored, typed)
        return typed

    def as_json(self) -> dict[str, Any]:
        """Return what the part keeps: JSON values in the order of the fields."""
        values = {name: getattr(self, name) for name in _names(type(self))}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value or name not in self.omit_empty
        }


# A mark reads the settings of its part several times. Each entry holds the mapping that it was read from, so
# an id stays that of one object as long as it is a key here. No more parts than these are marked at a time.
_MOST_TYPED = 64
_TYPED: dict[tuple[type[PartSettings], int], tuple[Mapping[str, Any], PartSettings]] = {}


def _names(kind: type[PartSettings]) -> tuple[str, ...]:
    # the fields in order; quicker than dataclasses.fields()
    return kind.__match_args__


class AnswerJudgement(NamedTuple):
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


class PartResult(NamedTuple):
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
    is_waiting : bool
        A person must mark it first; until then the points say nothing.
    """

    part: str
    points: float
    max_points: float
    message: str
    diagnosis: tuple[Diagnosis, ...] = ()
    notes: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    is_blank: bool = False
    is_waiting: bool = False

    @property
    def is_full(self) -> bool:
        """Whether it earned full marks."""
        return self.points >= self.max_points and not self.is_waiting


def blank_result(part: Part) -> PartResult:
    """Return the result of an empty field: 0, whatever the policy."""
    check = Check(part.id, Verdict.FAILED, 0.0, part.points, "No answer.")
    return PartResult(part.id, 0.0, part.points, check.message, checks=(check,), is_blank=True)


# Guessing is added up as floats; this many places make equal shares equal, and lose nothing that is shown.
_SHARE_PLACES = 9


@dataclass(frozen=True, slots=True)
class GuessScore:
    """What blind guessing earns.

    Parameters
    ----------
    scores : mapping of float to float
        Share of the points → probability.
    is_exact : bool
        False where it was simulated.
    """

    scores: Mapping[float, float]
    is_exact: bool = True

    @property
    def mean(self) -> float:
        """The share that is earned on average."""
        return sum(share * chance for share, chance in self.scores.items())


def sum_chances(outcomes: Iterable[tuple[float, float]]) -> dict[float, float]:
    """Return the probability of each share, from pairs of a share and a chance."""
    total: dict[float, float] = {}
    for share, chance in outcomes:
        share = round(share, _SHARE_PLACES)
        total[share] = total.get(share, 0.0) + chance
    return total


class AnswerType:
    """One type of answer.

    The methods take a part and never change it.  Text comes as it was typed; ``parse`` alone deals with
    it, so ``judge`` can trust what it gets.
    """

    name = ""
    spec: type[StrictModel] | None = None
    """What an item file says of such a field; needed only by types from outside the engine."""
    takes_text = True
    """Whether an answer is typed; code is handed in as a file."""
    needs_person = False
    """Whether a person gives the points: :meth:`mark` then returns what waits, :meth:`marked` the marks."""
    is_numeric = False
    """Whether the key is made of numbers, graded within intervals."""
    is_open = False
    """Whether an answer is produced, not picked: then each known mistake has a value of its own."""
    picks_options = False
    """Whether the answer names options of which each is right or wrong."""
    invites_elimination = False
    """Whether a second try at the very same variant would be elimination rather than thought."""
    shows_policy = False
    """Whether the scoring rule is shown beside the field: where guessing or leaving out is a decision."""
    lines_on_paper = 1
    """Lines to write on where a quiz is printed."""

    def draft(self, answer: Any, context: FieldContext) -> FieldDraft:
        """Draft the field that an item's answer spec describes.

        Raises
        ------
        RedrawNeeded
            These numbers don't serve, others may.
        ImpossibleDraw, engine.errors.ExpressionError
            The spec is at fault.
        """
        raise NotImplementedError

    def key_early(self, answer: Any, names: Mapping[str, Any]) -> Any:
        """Return a step's key ahead of its draft, None if it has none; bad numbers fail here cheaply.

        Raises
        ------
        RedrawNeeded, ImpossibleDraw, engine.errors.ExpressionError
            As :meth:`draft`.
        """
        expression = getattr(answer, "key", None)
        return None if expression is None else evaluate(expression, names)

    def parse(self, text: str, part: Part) -> Any:
        """Return what was entered, in the type's own form.

        Raises
        ------
        engine.errors.ResponseFormatError
            It can't be read; costs no attempt.
        """
        raise NotImplementedError

    def check_limits(self, part: Part, answer: Any) -> None:
        """Refuse what can be read but exceeds a limit that the field states; most types have none.

        Only an answer that its student can still change is refused, at no cost. One that is handed in as it
        stands, at the end of a sitting or with a download, is marked.

        Raises
        ------
        engine.errors.ResponseFormatError
            It is too long.
        """

    def read(self, text: str, part: Part) -> Any:
        """Return what was entered, in the type's own form, if it can be handed in as it is.

        Raises
        ------
        engine.errors.ResponseFormatError
            It can't be read, or it exceeds a limit.
        """
        answer = self.parse(text, part)
        self.check_limits(part, answer)
        return answer

    def judge(self, part: Part, answer: Any) -> AnswerJudgement:
        """Judge what :meth:`parse` returned.

        Parameters
        ----------
        part : Part
        answer
            In the type's own form: never blank, and readable.
        """
        raise NotImplementedError

    def marked(self, part: Part, answer: Any, marks: RubricMarks) -> PartResult:
        """Return the result of an answer that a person has marked; for types that need one.

        Parameters
        ----------
        part : Part
        answer
            What :meth:`parse` returned.
        marks : RubricMarks
            Given under the rubric of `part`.
        """
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
        """Return the share of the marks that a random answer earns on average."""
        return 0.0

    def guess(self, part: Part) -> GuessScore:
        """Return what the best strategy that needs no knowledge earns; what can't be guessed earns 0."""
        return GuessScore({0.0: 1.0})

    def key_words(self, part: Part) -> str:
        """Return the right answer in words that don't depend on the order in which options are shown."""
        texts = {option.id: option.text.plain for option in part.options}
        return (
            "; ".join(sorted(texts[key] for key in part.key_ids)) if texts else self.right_responses(part)[0]
        )

    def interval_text(self, part: Part) -> str:
        """Return the interval that counts as right; shown only with the key, empty for most types."""
        return ""

    def observe(self, part: Part, text: str) -> tuple[Diagnosis, ...]:
        """Return what can be said of an answer that :meth:`parse` refuses."""
        return ()

    def rekeyed(self, handed_out: Part, *, new: Part, old: Part, ids: Mapping[str, str]) -> Part:
        """Return a part that was handed out, with the key that its item has now.

        Called for parts with options only: the key of others doesn't depend on what a variant shows.

        Parameters
        ----------
        handed_out : Part
            `new` with the options and prompts that the student saw, in the order shown.
        new : Part
            As the item would be drawn now, with all options of its pool.
        old : Part
            As it was handed out.
        ids : mapping of str to str
            Id of an option (a letter) or prompt (a number) of `new` → its id in `handed_out`.

        Raises
        ------
        ValueError
            The options that were shown have no clear key now; the message says why.
        """
        return replace(handed_out, key_ids=tuple(ids[key] for key in new.key_ids if key in ids))

    def grade(self, part: Part, text: str) -> PartResult:
        """Mark an answer as it was typed; a blank one gets 0.

        Raises
        ------
        engine.errors.ResponseFormatError
            It can't be read.
        """
        return self.mark(part, self.parse(text, part)) if text.strip() else blank_result(part)

    def mark(self, part: Part, answer: Any) -> PartResult:
        """Return the points of what :meth:`parse` returned."""
        judgement = self.judge(part, answer)
        share = float(judgement.fraction)
        is_full = share >= 1
        # A third of a point doesn't survive rounding: full marks are the part's own, to the last bit.
        points = part.points if is_full else round(share * part.points, 9)
        verdict = Verdict.PASSED if is_full else Verdict.FAILED
        check = Check(part.id, verdict, points, part.points, judgement.message)
        return PartResult(
            part.id,
            points,
            part.points,
            judgement.message,
            judgement.diagnosis,
            judgement.notes,
            (check, *judgement.checks),
        )


def mistake_diagnosis(known: KnownWrong) -> Diagnosis:
    """Return the diagnosis of an answer that equals what a known mistake gives."""
    sentence = "Your answer is what this known mistake gives."
    return Diagnosis(known.misconception, f"{sentence} {known.feedback}".strip())


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
        Printed options that an erratum accepts, see :mod:`engine.variants.draw_variant`.
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
        """Return a text that may show drawn and derived values.

        Parameters
        ----------
        template : str
        where : str
            What the text is, for messages.
        inline : bool
            Whether it is a run of words and not paragraphs.
        """
        from engine.prose.stems import render_text

        return render_text(template, self.names, inline=inline, where=where)

    def feedback(self, sentence: str | None, misconception: str | None = None) -> str:
        """Return the item's sentence, or else the registry's for the misconception, or nothing."""
        template = sentence or self.registry.get(misconception or "", "")
        if not template:
            return ""
        from engine.prose.stems import is_template, render_text

        if is_template(template):
            names = {**self.names, **self.answers}
            return render_text(template, names, inline=True, where="feedback").plain
        plain = _plain_feedback.get(template)
        if plain is None:
            plain = _plain_feedback[template] = render_text(template, {}, inline=True, where="feedback").plain
            if len(_plain_feedback) > _MOST_FEEDBACK:
                _plain_feedback.clear()
        return plain

    def options(self, specs: Sequence[OptionSpec]) -> tuple[ChoiceOption, ...]:
        """Return options of the item, in this order, with letters."""
        return tuple(
            ChoiceOption(
                letter,
                self.text(option.text, "option", inline=True),
                correct=option.correct,
                misconception=option.misconception,
                feedback=self.feedback(option.feedback, option.misconception),
            )
            for letter, option in zip(letters(len(specs)), specs, strict=True)
        )


@dataclass(frozen=True, slots=True)
class FieldDraft:
    """The numbers of one field, and none of its texts.

    Most tries at a draw are thrown away, and counting the variants of an item needs keys only: neither
    should pay for rendering.

    Parameters
    ----------
    value : value
        The key, as later expressions see it.
    signature : hashable
        Equal for variants that have the same answer; counts a family's keys.
    build : callable
        ``build(renderer, stream) -> Part``, with an empty id; the stream orders the options.
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


# Most sentences are the same in all variants.
_plain_feedback: dict[str, str] = {}
_MOST_FEEDBACK = 4096


def letters(count: int) -> list[str]:
    """Return ``a``, ``b`` …; a ValueError for more than 26 options."""
    if count > 26:  # double letters would be read as two options
        raise ValueError("there are letters for 26 options only")
    return [chr(ord("a") + i) for i in range(count)]
