"""Kinds of value that only a blueprint has: shares, a list of credits, a deadline, a difficulty."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from engine.spec.kinds import Real
from engine.spec.wording import describe

__all__ = ["Credits", "Deadline", "Share", "difficulty_range"]

_EXAMPLE = "a time with its zone, such as 2026-12-01T23:59+01:00"


def _own(message: str) -> PydanticCustomError:
    return PydanticCustomError("rule_here", "{text}", {"text": message})


def difficulty_range(value: Any) -> Any:
    """Let ``difficulty: 3`` stand for ``[3, 3]``; refuse bounds that no item has."""
    bounds = [value, value] if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        raise _own(f"a number from 1 to 5 or two, such as [1, 3], was expected, not {describe(value)}")
    if any(isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 5 for n in bounds):
        raise _own("a difficulty is a whole number from 1 to 5")
    if bounds[0] > bounds[1]:
        raise _own(f"the range goes from {bounds[0]} down to {bounds[1]}; write the smaller number first")
    return bounds


def _deadline(value: Any) -> Any:
    if isinstance(value, datetime):
        return value
    try:
        moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None:
        raise _own(f"{_EXAMPLE} was expected, not {describe(value)}")
    if moment.tzinfo is None:
        raise _own(f"this time has no zone; expected: {_EXAMPLE}")
    return moment


def _falling(shares: tuple[float, ...]) -> tuple[float, ...]:
    for earlier, later in pairwise(shares):
        if later > earlier:
            raise _own(f"a later attempt can't earn more than an earlier one: {later:g} after {earlier:g}")
    return shares


Share = Annotated[Real, Field(ge=0, le=1)]
Credits = Annotated[
    tuple[Annotated[Real, Field(gt=0, le=1)], ...], Field(max_length=20), AfterValidator(_falling)
]
Deadline = Annotated[datetime, BeforeValidator(_deadline)]
