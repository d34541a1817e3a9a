"""Whether anything can be drawn from a range: checked when the file is read, not at the first draw."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NoReturn

from pydantic_core import PydanticCustomError

from engine.plurals import counted

__all__ = ["check_probability_step", "check_range", "refuse"]

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
    count = (_units(high) - _units(low)) // _units(step) + 1
    if count > _MAX_VALUES:
        refuse(
            "range",
            f"the range holds {counted(count, 'multiple', ',')} of {step}; at most "
            f"{_MAX_VALUES:,} are possible",
        )
    removed = {value for value in exclude if low <= value <= high and _units(value) % _units(step) == 0}
    if count - len(removed) < distinct:
        left = max(0, count - len(removed))
        needed = "a value is needed" if distinct == 1 else f"{distinct} different ones are needed"
        refuse("exclude" if removed else "range", f"the range leaves {counted(left, 'value')}, but {needed}")


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
    needed = size * (size + 1) // 2 if distinct else size
    if parts < needed:
        kind = "different positive" if distinct else "positive"
        refuse("step", f"{size} {counted(kind, 'multiple')} of {step} can't sum to 1; choose a smaller step")


def _units(value: Decimal) -> int:
    """Return an exact number (of at most 12 decimals) in units of 10^-12."""
    return int(value.scaleb(12))
