"""What is drawn for a variant, and what must be true of it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Literal, NoReturn, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from engine.items.field_types import (
    Expression,
    Flag,
    Number,
    NumberOrWord,
    Numbers,
    PositiveNumber,
    Sentence,
    Size,
    StrictModel,
    Whole,
)
from engine.text.words import count_noun

# Whether anything can be drawn from a range is checked when the file is read, not at the first draw.

# More steps than anybody can tell apart in an exercise; excluded values and distinct draws look at them all.
_MAX_VALUES = 100_000


def refuse(field: str, message: str) -> NoReturn:
    """Raise the fault of one key of a model, so that it is shown at that key."""
    raise PydanticCustomError("rule", "{text}", {"text": message, "field": field})


def check_range(
    low: Decimal, high: Decimal, step: Decimal, exclude: Sequence[Decimal], *, distinct: int = 1
) -> None:
    """Refuse a range from which ``distinct`` different multiples of ``step`` can't be drawn.

    Raises
    ------
    PydanticCustomError
        Bounds in the wrong order or no multiples of ``step``, too many values, or all excluded.
    """
    if low > high:
        refuse("range", f"the range goes from {low} down to {high}; write the smaller bound first")
    for bound in (low, high):
        if _units(bound) % _units(step):
            refuse("range", f"the bound {bound} isn't a multiple of the step {step}")
    # in whole units: 0.3 / 0.1 is 2.9999999999999996 in floats
    count = (_units(high) - _units(low)) // _units(step) + 1
    if count > _MAX_VALUES:
        refuse(
            "range",
            f"the range holds {count_noun(count, 'multiple', ',')} of {step}; at most "
            f"{_MAX_VALUES:,} are possible",
        )
    removed = {value for value in exclude if low <= value <= high and _units(value) % _units(step) == 0}
    if count - len(removed) < distinct:
        remaining = max(0, count - len(removed))
        needed = "a value is needed" if distinct == 1 else f"{distinct} different ones are needed"
        refuse(
            "exclude" if removed else "range",
            f"the range leaves {count_noun(remaining, 'value')}, but {needed}",
        )


def check_probability_step(step: Decimal, size: int, *, distinct: bool) -> None:
    """Refuse a step from which ``size`` positive multiples can't sum to 1 exactly.

    Raises
    ------
    PydanticCustomError
        The step doesn't divide 1, is too fine, or leaves too few parts.
    """
    if _units(Decimal(1)) % _units(step) != 0:
        refuse("step", f"the step {step} doesn't divide 1, so the values can't sum to 1")
    parts = _units(Decimal(1)) // _units(step)
    if parts > _MAX_VALUES:
        refuse("step", f"the step {step} is too fine; at most {_MAX_VALUES:,} parts are possible")
    # 1 + 2 + … + size are the smallest different parts
    needed = size * (size + 1) // 2 if distinct else size
    if parts < needed:
        kind = "different positive" if distinct else "positive"
        refuse(
            "step", f"{size} {count_noun(kind, 'multiple')} of {step} can't sum to 1; choose a smaller step"
        )


def _units(value: Decimal) -> int:
    """Return an exact number (of at most 12 decimals) in units of 10^-12."""
    return int(value.scaleb(12))


class FixedParameter(StrictModel):
    """A value that is the same in every variant: a number or a nested list of numbers."""

    kind: Literal["fixed"]
    value: Numbers = Field(
        description="A number, a word, a list of numbers or a list of such lists, all equally long."
    )


class IntegerParameter(StrictModel):
    """A whole number, both bounds included."""

    kind: Literal["integer"]
    range: tuple[Whole, Whole] = Field(description="Smallest and largest value.")
    exclude: tuple[Whole, ...] = Field(default=(), description="Values that are never drawn.")

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        low, high = self.range
        check_range(Decimal(low), Decimal(high), Decimal(1), [Decimal(value) for value in self.exclude])
        return self


class DecimalParameter(StrictModel):
    """A multiple of ``step`` within ``range``, both bounds included."""

    kind: Literal["decimal"]
    range: tuple[Number, Number] = Field(description="Smallest and largest value.")
    step: PositiveNumber = Field(description="Every value is a multiple of this.")
    exclude: tuple[Number, ...] = Field(default=(), description="Values that are never drawn.")

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        check_range(*self.range, self.step, self.exclude)
        return self


class ChoiceParameter(StrictModel):
    """One of the listed numbers or words."""

    kind: Literal["choice"]
    # `from` is a word of Python
    options: tuple[NumberOrWord, ...] = Field(
        alias="from", min_length=1, max_length=200, description="The numbers or words to draw from."
    )


class VectorParameter(StrictModel):
    """``size`` entries, each as in a decimal parameter."""

    kind: Literal["vector"]
    size: Size = Field(description="Number of entries: a number or an expression.")
    range: tuple[Number, Number] = Field(description="Smallest and largest entry.")
    step: PositiveNumber = Field(default=Decimal(1), description="Every entry is a multiple of this.")
    distinct: Flag = Field(default=False, description="No two entries are equal.")
    exclude: tuple[Number, ...] = Field(default=(), description="Values that no entry takes.")

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        count = self.size if self.distinct and isinstance(self.size, int) else 1
        check_range(*self.range, self.step, self.exclude, distinct=count)
        return self


class MatrixParameter(StrictModel):
    """Rows x columns entries, each as in a decimal parameter."""

    kind: Literal["matrix"]
    shape: tuple[Size, Size] = Field(description="Rows and columns: numbers or expressions.")
    range: tuple[Number, Number] = Field(description="Smallest and largest entry.")
    step: PositiveNumber = Field(default=Decimal(1), description="Every entry is a multiple of this.")
    distinct_rows: Flag = Field(default=False, description="No two rows are equal.")
    exclude: tuple[Number, ...] = Field(default=(), description="Values that no entry takes.")

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        check_range(*self.range, self.step, self.exclude)
        return self


class WeightsParameter(StrictModel):
    """Positive multiples of ``step`` that sum to 1 exactly."""

    kind: Literal["weights"]
    size: Size = Field(description="Number of weights: a number or an expression.")
    step: PositiveNumber = Field(
        default=Decimal("0.1"), description="Every weight is a multiple of this; it divides 1."
    )
    distinct: Flag = Field(default=False, description="No two weights are equal.")

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        check_probability_step(
            self.step, self.size if isinstance(self.size, int) else 1, distinct=self.distinct
        )
        return self


class ProbabilityTreeParameter(StrictModel):
    """A decoding table: for every prefix shorter than ``depth`` a row over ``vocabulary`` words.

    Each row sums to 1 exactly, in multiples of ``step``, no two entries of a row equal.
    The value has shape (number of prefixes, V), prefixes in the order (), (0), (1) … (0,0) …
    """

    kind: Literal["probability_tree"]
    # the bounds leave at most 156 prefixes of 5 words: a larger tree fits on no page
    vocabulary: Whole = Field(ge=2, le=5, description="Number of tokens V.")
    depth: Whole = Field(ge=1, le=4, description="Length of the sequences.")
    step: PositiveNumber = Field(
        default=Decimal("0.01"), description="Every probability is a multiple of this; it divides 1."
    )

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        check_probability_step(self.step, self.vocabulary, distinct=True)
        return self


ParameterSpec = Annotated[
    FixedParameter
    | IntegerParameter
    | DecimalParameter
    | ChoiceParameter
    | VectorParameter
    | MatrixParameter
    | WeightsParameter
    | ProbabilityTreeParameter,
    Field(discriminator="kind"),
]


class DrawConstraint(StrictModel):
    """An expression that must be true of the drawn values; the message names it when draws run out."""

    expr: Expression = Field(
        description="An expression that is true or false, such as `max(e) - min(e) >= 0.8`."
    )
    message: Sentence = Field(description="What the constraint asks for, in words.")


class DeclaredClaim(StrictModel):
    """Words of the item that are true of some numbers only, and what makes them true.

    `grade lint` evaluates ``holds`` for every variant that shows the words. It asks for a claim where an
    option, feedback, a hint or the solution says how many of the drawn numbers are negative or positive,
    which of them is the largest, how two of them compare, or what one of them is.
    """

    says: Sentence = Field(description="Words that stand in a text of the item as they are.")
    holds: Expression = Field(
        description="An expression that is true wherever the words are shown; it may use the keys too."
    )
