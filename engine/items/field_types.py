"""The basic kinds of value in a problem file: names, prose, expressions, exact numbers.

Numbers are read as :class:`decimal.Decimal` where their decimals matter: a step of ``0.1`` is exactly one
tenth. An *expression* is a text in the language of :mod:`engine.expressions`: ``context(reverse(w), H)``.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Annotated, Any, Literal

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
)
from pydantic_core import PydanticCustomError

MAX_SIZE = 16
"""The longest side of a vector or matrix: more numbers don't fit on a page, or into a student's patience."""
MAX_ENTRIES = 1024
"""The most numbers that one value holds: a probability tree of 5 words and depth 4 has 780."""
# Drawn numbers are counted in units of 10^-12 (parameter_specs), and as many digits of a key count.
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
# Names stand in expressions and templates. A leading underscore would reach Python's own names.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=32)]
Letter = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]{1,4}$")]
SourceName = Literal["S0", "S1", "S2", "S3", "S4", "background"]
"""A lecture document, or what no lecture of ours says."""
# Ten pages of text; a template may fill in as much again.
Prose = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Sentence = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]

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

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False)
