"""The grid of multiples of a step between two bounds, in exact decimals."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from engine.plurals import counted
from engine.variants.stream import Stream

__all__ = ["MAX_SIZE", "TRIES", "ImpossibleDraw", "Redraw", "composition", "decimal_text", "grid", "size_of"]

MAX_SIZE = 16
TRIES = 200
_MAX_GRID = 100_000


class Redraw(Exception):  # noqa: N818 - a signal to the retry loop, never shown
    """This try failed; the text says at what."""


class ImpossibleDraw(Exception):  # noqa: N818 - turned into a DrawError by the retry loop
    """No try can succeed; the text says why."""


def decimal_text(value: Decimal) -> str:
    """Return a decimal in plain notation, zero without a sign."""
    return format(abs(value) if value == 0 else value, "f")


@lru_cache(maxsize=512)
def grid(low: Decimal, high: Decimal, step: Decimal, exclude: tuple[Decimal, ...]) -> tuple[str, ...]:
    """Return ``low``, ``low + step`` … up to ``high`` as texts, without the excluded values.

    Raises
    ------
    ImpossibleDraw
        Nothing is left, or the grid has over 100,000 values.
    """
    if (high - low) / step >= _MAX_GRID:
        raise ImpossibleDraw(f"the range {low} … {high} has over {_MAX_GRID} steps of {step}")
    count = int((high - low) // step) + 1 if high >= low else 0
    values = tuple(decimal_text(v) for k in range(count) if (v := low + k * step) not in exclude)
    if not values:
        raise ImpossibleDraw(f"the range {low} … {high} in steps of {step} leaves no value to draw")
    return values


def size_of(size: int | str, names: Mapping[str, Any]) -> int:
    """Return a size that is a number or an expression over earlier parameters.

    Raises
    ------
    ImpossibleDraw
        It isn't a whole number from 1 to 16.
    engine.errors.ExpressionError
        The expression can't be evaluated.
    """
    if isinstance(size, str):
        from engine.variants.expressions import evaluate_number

        value = evaluate_number(size, names)
    else:
        value = size
    if value != int(value) or not 1 <= value <= MAX_SIZE:
        raise ImpossibleDraw(f"the size {size} is {value:g}, but must be a whole number from 1 to {MAX_SIZE}")
    return int(value)


def composition(total: int, parts: int, stream: Stream, distinct: bool) -> Sequence[int]:
    """Return `parts` positive integers that sum to `total`, each such list equally likely.

    Raises
    ------
    ImpossibleDraw
        There is none.
    Redraw
        With `distinct`, the bounded tries gave none without a repetition.
    """
    least = parts * (parts + 1) // 2 if distinct else parts
    if total < least:
        kind = "different positive" if distinct else "positive"
        raise ImpossibleDraw(f"{counted(total, 'step')} can't be split into {counted(parts, f'{kind} part')}")
    for _ in range(TRIES):
        cuts = sorted(stream.sample(range(1, total), parts - 1))
        sizes = [b - a for a, b in itertools.pairwise([0, *cuts, total])]
        if not distinct or len(set(sizes)) == parts:
            return sizes
    raise Redraw(f"no {counted(parts, 'different part')} of {counted(total, 'step')}")
