"""The kinds of value in a problem file: those that are written there, and those that are drawn for a variant.

Numbers are read as :class:`decimal.Decimal` where their decimals matter: a step of ``0.1`` is exactly one
tenth. An *expression* is a text in the language of :mod:`engine.expressions`: ``context(reverse(w), H)``.
Whether anything can be drawn from a range is checked here, when the file is read, and not at the first draw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, NoReturn, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Strict,
    StringConstraints,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from engine.text.words import count_noun

MAX_SIZE = 16
"""The longest side of a vector or matrix: more numbers don't fit on a page, or into a student's patience."""
MAX_ENTRIES = 1024
"""The most numbers that one value holds: a probability tree of 5 words and depth 4 has 780."""
# Drawn numbers are counted in units of 10^-12, and as many digits of a key count.
_MAX_DECIMALS = 12
# A float64 still has six exact decimals here.
_BOUND = 10**9

# Ids become file names, names in URLs and columns of a gradebook, some of which ignore capitals.
Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=64)]
EntryId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]+$", max_length=64)]
# m-swap-W (matrices) and m-swap-w (weights) are two mistakes, so capitals are allowed here
MisconceptionId = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[A-Za-z0-9]+)*$", max_length=64)
]
# Names are used in expressions and templates. A leading underscore would reach Python's own names.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=32)]
Letter = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]{1,4}$")]
SourceName = Literal["S0", "S1", "S2", "S3", "S4", "background"]
"""A lecture document, or what no lecture of ours says."""
# Ten pages of text; a template may fill in as much again.
Prose = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Sentence = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
# A line of Python, or two that stand in the place of one.
Statement = Annotated[str, StringConstraints(min_length=1, max_length=500)]

# YAML tells numbers, texts and true/false apart, so a quoted "3" is a text and not three.
Whole = Annotated[int, Strict()]
Flag = Annotated[bool, Strict()]
Real = Annotated[float, Strict()]


def as_expression(value: Any) -> Any:
    """Return a number as the expression that it is, so that ``key: 3`` needs no quotes; all else as it is."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Expression = Annotated[
    str,
    StringConstraints(min_length=1, max_length=500),
    BeforeValidator(as_expression),
    WithJsonSchema({"type": ["string", "number"], "minLength": 1, "maxLength": 500}),
]


def _as_decimal(value: Any) -> Decimal:
    # the YAML reader keeps the digits of a float as they were written, so that str() gives them back
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise PydanticCustomError("number", "a number was expected")
    number = Decimal(str(value))
    if not number.is_finite() or abs(number) > _BOUND:
        raise PydanticCustomError("number_range", "a number between -10^9 and 10^9 was expected")
    if int(number.as_tuple().exponent) < -_MAX_DECIMALS:
        raise PydanticCustomError("number_digits", "a number has more than 12 decimals")
    return number


# the schema says number, although pydantic would write a decimal as a text
Number = Annotated[Decimal, BeforeValidator(_as_decimal), WithJsonSchema({"type": "number"})]

PositiveNumber = Annotated[Number, Field(gt=0), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})]


def _shape(value: Any, depth: int = 0) -> tuple[int, ...]:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        _as_decimal(value)
        return ()
    if not isinstance(value, list | tuple) or depth >= 3:
        raise PydanticCustomError("numbers", "a number or a list (of lists) of numbers was expected")
    # a set: lists of one length and depth have one shape
    shapes = {_shape(entry, depth + 1) for entry in value}
    if len(shapes) != 1:
        raise PydanticCustomError("ragged", "the lists must not be empty, and all equally long")
    return (len(value), *shapes.pop())


def _check_numbers(value: Any) -> Any:
    if isinstance(value, str) and 0 < len(value) <= 200:
        return value
    if math.prod(_shape(value)) > MAX_ENTRIES:
        raise PydanticCustomError("too_many_numbers", f"a value holds at most {MAX_ENTRIES} numbers")
    return value


Numbers = Annotated[Any, BeforeValidator(_check_numbers)]


def _text_or_number(value: Any) -> str:
    return "text" if isinstance(value, str) else "number"


NumberOrWord = Annotated[
    Annotated[Number, Tag("number")] | Annotated[Word, Tag("text")], Discriminator(_text_or_number)
]
NumbersOrProse = Annotated[
    Annotated[Numbers, Tag("number")] | Annotated[Prose, Tag("text")], Discriminator(_text_or_number)
]


def _one_or_list(value: Any) -> str:
    # without a tag, pydantic reports the faults of both forms
    return "list" if isinstance(value, list | tuple) else "one"


OneOrList = Discriminator(_one_or_list)
"""Tells a single value (tag ``one``) from a list (tag ``list``)."""

# a number has its own bounds, and its own fault where it breaks them; as an expression it would have neither
Size = Annotated[
    Annotated[int, Strict(), Field(ge=1, le=MAX_SIZE), Tag("number")] | Annotated[Expression, Tag("text")],
    Discriminator(_text_or_number),
]


class StrictModel(BaseModel):
    """The base of all models: a key that isn't known is an error (most are misspelt), values are frozen."""

    # deferred: most models are only ever used within another, whose schema holds theirs
    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False, defer_build=True
    )


def refuse(field: str | tuple[int | str, ...], message: str) -> NoReturn:
    """Raise the fault of one key of a model (or of one inside it), so that it is shown at that key."""
    raise PydanticCustomError("rule", "{text}", {"text": message, "field": field})


def fault_here(message: str) -> PydanticCustomError:
    """Return the fault of a value, to be raised by its validator: it is shown at that value."""
    return PydanticCustomError("rule_here", "{text}", {"text": message})


# More steps than anybody can tell apart in an exercise; excluded values and distinct draws look at them all.
MAX_VALUES = 100_000


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
    if count > MAX_VALUES:
        refuse(
            "range",
            f"the range holds {count_noun(count, 'multiple', ',')} of {step}; at most "
            f"{MAX_VALUES:,} are possible",
        )
    removed = {value for value in exclude if low <= value <= high and _units(value) % _units(step) == 0}
    if count - len(removed) < distinct:
        remaining = max(0, count - len(removed))
        needed = "a value is needed" if distinct == 1 else f"{distinct} different ones are needed"
        refuse(
            "exclude" if removed else "range",
            f"the range leaves {count_noun(remaining, 'value')}, but {needed}",
        )


_R = TypeVar("_R", "DecimalParameter", "MatrixParameter")


def _check_grid(parameter: _R) -> _R:
    check_range(*parameter.range, parameter.step, parameter.exclude)
    return parameter


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
    if parts > MAX_VALUES:
        refuse("step", f"the step {step} is too fine; at most {MAX_VALUES:,} parts are possible")
    # 1 + 2 + … + size are the smallest different parts
    needed = size * (size + 1) // 2 if distinct else size
    if parts < needed:
        kind = "different positive" if distinct else "positive"
        refuse(
            "step", f"{count_noun(size, f'{kind} multiple')} of {step} can't sum to 1; choose a smaller step"
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

    _drawable = model_validator(mode="after")(_check_grid)


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

    _drawable = model_validator(mode="after")(_check_grid)


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
