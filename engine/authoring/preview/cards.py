"""One variant as its author wants to see it: with the key, and why each wrong answer is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from engine.answers import kind_of
from engine.items import CodeAnswer, ProblemSpec, SingleChoiceAnswer
from engine.model import ChoiceOption, Part, RenderedText, Variant
from engine.text.words import clean

if TYPE_CHECKING:
    from engine.answers.free_text import RubricCriterion


@dataclass(frozen=True, slots=True)
class ChoiceCard:
    """An option, a card in its right place, or a prompt with its target.

    Parameters
    ----------
    label : str
        What students see: a letter or a number.
    text : RenderedText
    is_right : bool or None
        None where rightness belongs to the whole order or to a pair.
    belongs : str
        Label of a prompt's target.
    origin : str
        Id of the known mistake that made it.
    says : str
        Feedback for whoever chooses it; empty where there is none.
    """

    label: str
    text: RenderedText
    is_right: bool | None = None
    belongs: str = ""
    origin: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class WrongAnswerCard:
    """What a known mistake would answer; None where it has no value for these numbers."""

    origin: str
    answer: str | None
    says: str


@dataclass(frozen=True, slots=True)
class FieldCard:
    """One answer field with everything that students don't see.

    Parameters
    ----------
    id, type, points, prompt
        As in :class:`engine.model.Part`.
    asks : str
        What is to be entered, as students read it.
    policy : str
        How it is scored.
    keys : tuple of str
        The right answer as it is typed; several where several texts are accepted.
    interval : str
        What numbers are accepted, entry by entry.
    choices, prompts : tuple of ChoiceCard
    wrong : tuple of WrongAnswerCard
    feedback : str
        What every wrong answer reads.
    code : CodeAnswer or None
    rubric : tuple of RubricCriterion
        Of an answer that a person marks.
    sample : RenderedText or None
        An answer that earns all points of it.
    """

    id: str
    type: str
    points: float
    prompt: RenderedText | None
    asks: str
    policy: str
    keys: tuple[str, ...] = ()
    interval: str = ""
    choices: tuple[ChoiceCard, ...] = ()
    prompts: tuple[ChoiceCard, ...] = ()
    wrong: tuple[WrongAnswerCard, ...] = ()
    feedback: str = ""
    code: CodeAnswer | None = None
    rubric: tuple[RubricCriterion, ...] = ()
    sample: RenderedText | None = None


@dataclass(frozen=True, slots=True)
class VariantCard:
    """One variant, with the values behind it; ``derived`` follow from the drawn ones."""

    seed: int
    variant: Variant
    fields: tuple[FieldCard, ...]
    drawn: tuple[tuple[str, RenderedText], ...]
    derived: tuple[tuple[str, RenderedText], ...]


def card_of(spec: ProblemSpec, variant: Variant, seed: int) -> VariantCard:
    """Return what is shown of the variant of a seed.

    Raises
    ------
    engine.errors.DrawError
        A value can't be shown.
    """
    return VariantCard(
        seed=seed,
        variant=variant,
        fields=tuple(_field(spec, part) for part in variant.parts),
        drawn=tuple((name, _value(value)) for name, value in variant.values.items()),
        derived=tuple(_derived(spec, variant)),
    )


def _derived(spec: ProblemSpec, variant: Variant) -> Iterator[tuple[str, RenderedText]]:
    from engine.expressions.language import evaluate
    from engine.expressions.values import names_of

    names: dict[str, Any] = names_of(variant.values)
    for name, text in spec.derived.items():
        names[name] = evaluate(text, names)
        yield name, _value(names[name])


def _value(value: Any) -> RenderedText:
    from engine.prose.figures import figure_of, tex
    from engine.prose.stems import formula_text

    figure = figure_of(value)
    words = figure if isinstance(figure, tuple | list) else (figure,)
    if any(isinstance(word, str | bool) for word in words):  # in a formula letters would be variables
        plain = clean(" ".join(map(str, words)))
        return RenderedText(plain, escape(plain), plain)
    return formula_text(tex(figure))


def _field(spec: ProblemSpec, part: Part) -> FieldCard:
    from engine.answers import blank_hint, interval_text, policy_text
    from engine.answers.free_text import rubric_of, sample_of
    from engine.answers.ordering import OrderingSettings

    if isinstance(spec.answer, CodeAnswer):
        asks = blank_hint(part)
        return FieldCard(part.id, part.type, part.points, None, asks, "points by check", code=spec.answer)
    is_numeric = part.key is not None
    return FieldCard(
        id=part.id,
        type=part.type,
        points=part.points,
        prompt=part.prompt,
        asks=blank_hint(part),
        policy=policy_text(part),
        keys=_keys(part),
        interval=interval_text(part) if is_numeric else "",
        choices=tuple(_choices(part)),
        # only prompts of a matching have targets: for other types there are none
        prompts=tuple(
            _choice(p, belongs=target) for p, target in zip(part.prompts, part.key_ids, strict=False)
        ),
        wrong=tuple(_wrong(spec, part)),
        feedback=OrderingSettings.of(part).feedback or "",
        rubric=rubric_of(part),
        sample=sample_of(part) if kind_of(part.type).needs_person else None,
    )


def _keys(part: Part) -> tuple[str, ...]:
    from engine.answers import right_response

    if part.type == "token":
        return part.key_ids
    # The sample stands below, with its formulas.
    return () if kind_of(part.type).needs_person else (right_response(part),)


def _choices(part: Part) -> Iterator[ChoiceCard]:
    if part.type == "ordering":
        by_label = {option.id: option for option in part.options}
        for label in part.key_ids:
            yield ChoiceCard(label, by_label[label].text)
        return
    is_choice = kind_of(part.type).picks_options
    for option in part.options:
        yield _choice(option, is_right=option.correct if is_choice else None)


def _choice(option: ChoiceOption, *, is_right: bool | None = None, belongs: str = "") -> ChoiceCard:
    return ChoiceCard(option.id, option.text, is_right, belongs, option.misconception or "", option.feedback)


def _wrong(spec: ProblemSpec, part: Part) -> Iterator[WrongAnswerCard]:
    """Yield every known mistake of a field with what it would answer here, in the file's order."""
    from engine.answers import wrong_responses

    if not kind_of(part.type).is_open:
        yield from _unused(spec, part)
        return
    answers = {name: text for text, name in wrong_responses(part)}
    says = {mistake.misconception: mistake.feedback for mistake in part.known_wrong}
    for mistake in _mistakes(spec, part):
        yield WrongAnswerCard(mistake, answers.get(mistake), says.get(mistake, ""))


def _mistakes(spec: ProblemSpec, part: Part) -> tuple[str, ...]:
    holders: Mapping[str, Any] = {step.id: step for step in spec.steps}
    holder = holders.get(part.id, spec)  # an item with one field keeps its mistakes at the top
    return tuple(mistake.id for mistake in holder.misconceptions)


def _unused(spec: ProblemSpec, part: Part) -> Iterator[WrongAnswerCard]:
    """Yield known mistakes of a computed choice that stand behind no option."""
    if isinstance(spec.answer, SingleChoiceAnswer) and spec.answer.key is not None:
        for mistake in _mistakes(spec, part):
            if mistake not in spec.answer.distractors:
                yield WrongAnswerCard(mistake, None, "")
