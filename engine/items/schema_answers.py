"""The answer types, except code."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Tag

from engine.spec.kinds import (
    Expression,
    Flag,
    Identifier,
    MisconceptionId,
    OneOrList,
    PositiveNumber,
    Prose,
    Real,
    Whole,
    Word,
)
from engine.spec.schema.base import Strict

__all__ = [
    "CardSpec",
    "MatchPrompt",
    "MatchingAnswer",
    "MatrixAnswer",
    "MultipleChoiceAnswer",
    "NumberAnswer",
    "OptionSpec",
    "OrderingAnswer",
    "SingleChoiceAnswer",
    "TokenAnswer",
    "VectorAnswer",
]


class OptionSpec(Strict):
    """An option written by hand (concept items)."""

    text: Prose = Field(description="The option as students see it.")
    correct: Flag = Field(default=False, description="Whether the option is right.")
    misconception: MisconceptionId | None = Field(
        default=None, description="Id of the known mistake that this option stands for."
    )
    feedback: Prose | None = Field(default=None, description="Shown to whoever picks the option.")
    when: Expression | None = Field(
        default=None, description="Offered only in variants for which this expression is true."
    )


class _Numeric(Strict):
    """What number, vector and matrix answers share.

    ``decimals`` (or ``significant`` figures) is what the stem asks for; ``working_decimals`` is the
    precision to which a student may round every intermediate. The interval that is graded is the
    interval that is shown.
    """

    key: Expression = Field(description="The expression that computes the key.")
    decimals: Whole | None = Field(
        default=None,
        ge=0,
        le=8,
        description="Decimal places that the stem asks for. Either this or `significant`.",
    )
    significant: Whole | None = Field(
        default=None,
        ge=1,
        le=10,
        description="Significant figures that the stem asks for. Either this or `decimals`.",
    )
    working_decimals: Whole | None = Field(
        default=None, ge=0, le=10, description="Decimals to which every intermediate may be rounded."
    )
    tolerance: PositiveNumber | None = Field(
        default=None,
        description=(
            "Accepted distance from the key, instead of the one that follows from rounding. Where neither "
            "`decimals` nor `significant` is stated, every number within it is right, however it is written."
        ),
    )
    decimal_comma: Flag = Field(default=False, description="Whether `0,5` means one half.")
    simplex: Flag = Field(default=False, description="Whether the entries are weights: none negative, sum 1.")
    near_credit: Real = Field(
        default=0.0, ge=0, le=1, description="Share of the points for an answer that is off by rounding only."
    )


class NumberAnswer(_Numeric):
    """One number."""

    type: Literal["number"]
    unit: Word | None = Field(default=None, description="Unit shown behind the field.")


class VectorAnswer(_Numeric):
    """A vector; ``partial`` says whether entries earn credit one by one."""

    type: Literal["vector"]
    partial: Literal["all", "per-entry"] = Field(
        default="all", description="`all` or nothing, or credit `per-entry`."
    )


class MatrixAnswer(_Numeric):
    """A matrix; ``partial`` says whether entries or rows earn credit one by one."""

    type: Literal["matrix"]
    partial: Literal["all", "per-entry", "per-row"] = Field(
        default="all", description="`all` or nothing, or credit `per-entry` or `per-row`."
    )


class SingleChoiceAnswer(Strict):
    """One right option: either ``options`` by hand, or ``key`` and ``distractors`` (misconception ids)."""

    type: Literal["single_choice"]
    options: tuple[OptionSpec, ...] = Field(
        default=(),
        max_length=26,
        description="Options written by hand, or the pool that `draw` draws from; a variant has exactly one "
        "correct option.",
    )
    draw: tuple[Whole, Whole] | None = Field(
        default=None,
        description="How many right (1) and how many wrong options each variant shows of those written.",
    )
    key: Expression | None = Field(default=None, description="The expression that computes the right option.")
    distractors: tuple[MisconceptionId, ...] = Field(
        default=(),
        max_length=9,
        description="Ids from `misconceptions`, whose expressions give the wrong options.",
    )
    decimals: Whole | None = Field(
        default=None, ge=0, le=8, description="Decimal places of computed options."
    )
    shuffle: Flag = Field(default=True, description="Whether the options are shown in random order.")
    key_position: Whole | None = Field(
        default=None,
        ge=0,
        le=9,
        description="Where the key of computed options stands, from 0, if not shuffled.",
    )


HowMany = Annotated[
    Annotated[Whole, Field(ge=3, le=26), Tag("one")] | Annotated[tuple[Whole, Whole], Tag("list")], OneOrList
]


class MultipleChoiceAnswer(Strict):
    """Several right options; with ``draw: 6`` each variant shows six, and how many are right differs."""

    type: Literal["multiple_choice"]
    options: tuple[OptionSpec, ...] = Field(
        min_length=2, max_length=26, description="The options, or the pool that `draw` draws from."
    )
    policy: Literal["exact", "net-correct", "each-answer", "coverage"] = Field(
        default="net-correct",
        description="How points are given, with n options of which c are right: `exact` all or nothing; "
        "`net-correct` max(0, (hits - false picks) / c); `each-answer` 1 - wrong decisions / n; "
        "`coverage` (hits / c)(hits / picked).",
    )
    draw: HowMany | None = Field(
        default=None,
        description="How many options each variant shows, of which 1 to 4 are right, another number in each "
        "variant; or [right, wrong], always the same numbers of both.",
    )
    shuffle: Flag = Field(default=True, description="Whether the options are shown in random order.")


class CardSpec(Strict):
    """A card of an ordering item, or a target of a matching one."""

    id: Identifier = Field(description="The card's own id; students don't see it.")
    text: Prose = Field(description="The card as students see it.")
    when: Expression | None = Field(
        default=None, description="Shown only in variants for which this expression is true."
    )


class OrderingAnswer(Strict):
    """Cards in their right order; shown shuffled."""

    type: Literal["ordering"]
    cards: tuple[CardSpec, ...] = Field(
        min_length=2, max_length=20, description="The cards, in the right order."
    )
    draw: Whole | None = Field(
        default=None, ge=2, le=20, description="How many of the cards each variant shows."
    )
    policy: Literal["exact", "positions", "pairs"] = Field(
        default="pairs",
        description="`exact` all or nothing; `positions` the share of cards in their place; "
        "`pairs` from the share of pairs in the right order.",
    )
    feedback: Prose | None = Field(default=None, description="Shown when the order is wrong.")


class MatchPrompt(Strict):
    """The left side of one pair and the id of its target."""

    text: Prose = Field(description="The prompt as students see it.")
    target: Identifier = Field(description="Id of the target it belongs to.")
    feedback: Prose | None = Field(default=None, description="Shown when this pair is wrong.")
    when: Expression | None = Field(
        default=None, description="Shown only in variants for which this expression is true."
    )


class MatchingAnswer(Strict):
    """Each prompt belongs to one target; targets may be used more than once or not at all."""

    type: Literal["matching"]
    prompts: tuple[MatchPrompt, ...] = Field(
        min_length=2, max_length=40, description="The left side, or the pool that `draw` draws from."
    )
    draw: Whole | None = Field(
        default=None, ge=2, le=20, description="How many of the prompts each variant shows."
    )
    targets: tuple[CardSpec, ...] = Field(min_length=2, max_length=20, description="The right side.")
    policy: Literal["exact", "each-answer"] = Field(
        default="each-answer", description="`exact` all or nothing; `each-answer` the share of right pairs."
    )


class TokenAnswer(Strict):
    """A short text: one of ``accepted``, or what ``key`` gives (words joined by blanks)."""

    type: Literal["token"]
    accepted: tuple[Word, ...] = Field(default=(), max_length=50, description="The accepted texts.")
    key: Expression | None = Field(
        default=None, description="The expression that computes the accepted text."
    )
    case_sensitive: Flag = Field(default=False, description="Whether capitals matter.")
    order_credit: Real = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of the points for the right sequences in another order, where there are several.",
    )
