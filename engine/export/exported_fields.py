"""The answer fields of an exported question, each as a format needs it: plain values, nothing to compute.

A part of a variant keeps what our own marking needs. Here it is read once into one of six kinds of field, so
that a format never looks into the settings of an answer type, and no two formats can read them differently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias, TypedDict

from engine.answers import blank_hint, kind_of, right_response
from engine.answers.asked_precision import NumericSettings
from engine.answers.follow_through import StepSettings
from engine.answers.free_text import RubricCriterion, rubric_of, sample_of, word_limits
from engine.answers.matching import MatchingSettings
from engine.answers.multiple_choice import MultipleChoiceSettings
from engine.answers.numeric import NumericType
from engine.answers.ordering import OrderingSettings
from engine.answers.single_choice import SingleChoiceSettings
from engine.answers.token import TokenSettings
from engine.expressions.values import decimal_of, decimal_text, unit
from engine.model import ChoiceOption, FloatArray, Part, RenderedText


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldFrame:
    """What all kinds of field have.

    Parameters
    ----------
    part : Part
        What our own marking reads; formats need it only to ask for a mark.
    prompt : RenderedText or None
        What a step asks; None where the stem asks it.
    points : float
        Full marks of the field.
    hint : str
        What is to be entered, in a few words.
    right : str
        The key as it would be typed.
    follows : bool
        Whether it is also marked with the student's own earlier values, which no other platform does.
    """

    part: Part
    prompt: RenderedText | None
    points: float
    hint: str
    right: str
    follows: bool = False

    @property
    def id(self) -> str:
        """The part's id: ``answer``, or the step's name."""
        return self.part.id


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceField(FieldFrame):
    """Options of which one or several are right.

    Parameters
    ----------
    options : tuple of ChoiceOption
        In the order shown; `feedback` is plain text.
    multiple : bool
        Whether several can be picked.
    policy : str
        What picks of several earn: ``exact``, ``net-correct``, ``each-answer`` or ``coverage``.
    accepts_printed : bool
        Whether our own marking also accepts an option that the source printed by mistake.
    """

    options: tuple[ChoiceOption, ...]
    multiple: bool
    policy: str = "exact"
    accepts_printed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderField(FieldFrame):
    """Cards that are to be put in order.

    Parameters
    ----------
    cards : tuple of ChoiceOption
        In the order shown.
    order : tuple of str
        Their ids in the right order.
    policy : str
        ``exact``, ``positions`` or ``pairs``.
    feedback : str
        Shown where the order isn't right.
    """

    cards: tuple[ChoiceOption, ...]
    order: tuple[str, ...]
    policy: str
    feedback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchField(FieldFrame):
    """Prompts of which each has its target; a target may belong to several prompts or to none.

    Parameters
    ----------
    prompts, targets : tuple of ChoiceOption
        In the order shown.
    pairs : mapping of str to str
        The right target's id by the prompt's id.
    policy : str
        ``each-answer`` (each pair earns its share) or ``exact``.
    """

    prompts: tuple[ChoiceOption, ...]
    targets: tuple[ChoiceOption, ...]
    pairs: Mapping[str, str]
    policy: str


@dataclass(frozen=True, slots=True)
class NumberEntry:
    """One number that is to be typed.

    Parameters
    ----------
    label : str
        How it is called: ``entry 2``, ``row 1 column 3``; empty where the field has only one.
    right : str
        The key, rounded as asked.
    lower, upper : Decimal
        What counts as right, both ends included.
    near : tuple of Decimal or None
        From where to where it counts as nearly right, where the field gives credit for that.
    """

    label: str
    right: str
    lower: Decimal
    upper: Decimal
    near: tuple[Decimal, Decimal] | None = None


@dataclass(frozen=True, slots=True)
class WrongNumbers:
    """What a known mistake gives: `entries` in C order, each with the interval in which it is recognised."""

    misconception: str
    feedback: str
    entries: tuple[NumberEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NumbersField(FieldFrame):
    """A number, a vector or a matrix.

    Parameters
    ----------
    shape : tuple of int
        ``()`` for a number, ``(n,)`` for a vector, ``(rows, columns)`` for a matrix.
    entries : tuple of NumberEntry
        In C order.
    groups : tuple of tuple of int
        Which entries earn credit together: every group earns the same share, if all its entries are right.
    near_credit : Decimal
        Share of a group's credit where its entries are nearly right.
    whole : bool
        Whether only whole numbers can be typed.
    unit : str
        Shown behind the field; empty for none.
    wrong : tuple of WrongNumbers
        Known mistakes of the field's shape.
    """

    shape: tuple[int, ...]
    entries: tuple[NumberEntry, ...]
    groups: tuple[tuple[int, ...], ...]
    near_credit: Decimal = Decimal(0)
    whole: bool = False
    unit: str = ""
    wrong: tuple[WrongNumbers, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsField(FieldFrame):
    """A word, several words, or a sequence of tokens.

    Parameters
    ----------
    accepted : tuple of str
        Texts that are right, the usual one first.
    case_sensitive : bool
    order_credit : float
        Share of the points for the right sequences in another order.
    wrong : tuple of (str, str)
        What known mistakes give, with their feedback.
    """

    accepted: tuple[str, ...]
    case_sensitive: bool
    order_credit: float = 0.0
    wrong: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EssayField(FieldFrame):
    """An answer in words, which a person marks."""

    rubric: tuple[RubricCriterion, ...]
    sample: RenderedText | None
    least_words: int | None = None
    most_words: int | None = None


ExportedField: TypeAlias = ChoiceField | OrderField | MatchField | NumbersField | WordsField | EssayField


class FieldNotExportable(ValueError):  # noqa: N818 - a fact about an item, not a mistake
    """A field that can't be asked on another platform: a program, or a type from outside the engine."""


def exported_field(part: Part) -> ExportedField:
    """Return a part as a field.

    Raises
    ------
    FieldNotExportable
        It asks for something that no other platform can mark.
    """
    make = _MAKERS.get(part.type)
    # an answer type from outside the engine may mark as no other platform can: it isn't guessed at
    if make is None:
        what = "a program" if part.type == "code" else f"an answer of type {part.type}"
        raise FieldNotExportable(f"it asks for {what}, which other platforms can't mark")
    return make(part)


class _Frame(TypedDict):
    """The arguments that all kinds of field share, so that they are checked where a field is made."""

    part: Part
    prompt: RenderedText | None
    points: float
    hint: str
    right: str
    follows: bool


def _frame(part: Part) -> _Frame:
    return {
        "part": part,
        "prompt": part.prompt,
        "points": part.points,
        "hint": blank_hint(part),
        "right": right_response(part),
        "follows": StepSettings.of(part).follow_through,
    }


def _single(part: Part) -> ChoiceField:
    accepts = bool(SingleChoiceSettings.of(part).accepted)
    return ChoiceField(
        **_frame(part),
        options=part.options,
        multiple=False,
        accepts_printed=accepts,
    )


def _multiple(part: Part) -> ChoiceField:
    policy = MultipleChoiceSettings.of(part).policy
    return ChoiceField(**_frame(part), options=part.options, multiple=True, policy=policy)


def _order(part: Part) -> OrderField:
    settings = OrderingSettings.of(part)
    return OrderField(
        **_frame(part),
        cards=part.options,
        order=part.key_ids,
        policy=settings.policy,
        feedback=settings.feedback or "",
    )


def _match(part: Part) -> MatchField:
    pairs = dict(zip((prompt.id for prompt in part.prompts), part.key_ids, strict=True))
    return MatchField(
        **_frame(part),
        prompts=part.prompts,
        targets=part.options,
        pairs=pairs,
        policy=MatchingSettings.of(part).policy,
    )


def _numbers(part: Part) -> NumbersField:
    kind, settings, key = kind_of(part.type), NumericSettings.of(part), part.key
    assert isinstance(kind, NumericType) and key is not None
    # decimals as stored: a float would shift a bound by its last bit, and with it somebody's mark
    bounds = [(Decimal(low), Decimal(high)) for low, high in zip(settings.lower, settings.upper, strict=True)]
    # whole numbers are never nearly right
    near_credit = Decimal(0) if settings.is_whole else Decimal(str(settings.near_credit))
    labels = [kind.label(part, i) if key.shape else "" for i in range(len(key.data))]
    entries = tuple(
        NumberEntry(label, decimal_text(value, place), low, high, _near(low, high, place, near_credit))
        for label, value, place, (low, high) in zip(labels, key.data, settings.places, bounds, strict=True)
    )
    half_widths = [(high - low) / 2 for low, high in bounds]
    # a mistake of another shape can't be typed into these fields
    wrong = tuple(
        WrongNumbers(
            known.misconception, known.feedback, _wrong_entries(settings, value, half_widths, labels)
        )
        for known in part.known_wrong
        if (value := known.value) is not None and value.shape == key.shape
    )
    return NumbersField(
        **_frame(part),
        shape=key.shape,
        entries=entries,
        groups=_groups(settings.partial, key.shape),
        near_credit=near_credit,
        whole=settings.is_whole,
        unit=settings.unit or "",
        wrong=wrong,
    )


def _near(low: Decimal, high: Decimal, place: int | None, credit: Decimal) -> tuple[Decimal, Decimal] | None:
    """Return what lies within one unit of the last place of the rounded key, as our own marking has it."""
    if not credit or place is None:
        return None
    step = Fraction(unit(place))
    key = round((Fraction(low) + Fraction(high)) / 2 / step) * step
    middle = Decimal(key.numerator) / Decimal(key.denominator)
    return middle - unit(place), middle + unit(place)


def _wrong_entries(
    settings: NumericSettings, value: FloatArray, half_widths: list[Decimal], labels: list[str]
) -> tuple[NumberEntry, ...]:
    entries = []
    for label, number, half_width in zip(labels, value.data, half_widths, strict=True):
        place = settings.place(number)
        # as wide as the key's own interval, but at least what rounding to the last place takes away
        reach = half_width if place is None else max(half_width, unit(place) / 2)
        middle = decimal_of(number)
        entries.append(NumberEntry(label, decimal_text(number, place), middle - reach, middle + reach))
    return tuple(entries)


def _groups(partial: str, shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    size = 1
    for length in shape:
        size *= length
    if partial == "per-entry":
        return tuple((i,) for i in range(size))
    if partial == "per-row" and len(shape) == 2:
        return tuple(tuple(range(i, i + shape[1])) for i in range(0, size, shape[1]))
    return (tuple(range(size)),)


def _words(part: Part) -> WordsField:
    settings = TokenSettings.of(part)
    return WordsField(
        **_frame(part),
        accepted=part.key_ids,
        case_sensitive=settings.case_sensitive,
        order_credit=settings.order_credit,
        wrong=tuple((known.text, known.feedback) for known in part.known_wrong if known.text is not None),
    )


def _essay(part: Part) -> EssayField:
    least, most = word_limits(part)
    return EssayField(
        **_frame(part),
        rubric=rubric_of(part),
        sample=sample_of(part),
        least_words=least,
        most_words=most,
    )


_MAKERS: Mapping[str, Callable[[Part], ExportedField]] = {
    "single_choice": _single,
    "multiple_choice": _multiple,
    "ordering": _order,
    "matching": _match,
    "number": _numbers,
    "vector": _numbers,
    "matrix": _numbers,
    "token": _words,
    "free_text": _essay,
}
