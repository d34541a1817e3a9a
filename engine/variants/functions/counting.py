"""Counts of parameters, operations and dependent steps; all from the reference."""

from __future__ import annotations

from typing import Any

import reference
from engine.variants.functions.registry import function
from engine.variants.values import as_float

__all__: list[str] = []


def _whole_numbers(dims: dict[str, Any]) -> dict[str, int]:
    numbers = {name: as_float(value) for name, value in dims.items()}
    for name, value in numbers.items():
        if value != int(value):
            raise TypeError(f"{name} must be a whole number, got {value:g}")
    return {name: int(value) for name, value in numbers.items()}


@function(exact=True)
def count_params(kind: str, **dims: Any) -> int:
    """Return a number of learned parameters, see :func:`reference.count_params`."""
    return reference.count_params(kind, **_whole_numbers(dims))


@function(exact=True)
def count_ops(kind: str, **dims: Any) -> int:
    """Return a number of operations, see :func:`reference.count_ops`."""
    return reference.count_ops(kind, **_whole_numbers(dims))


@function(exact=True)
def sequential_depth(kind: str, **dims: Any) -> int:
    """Return a number of steps that must follow one another, see :func:`reference.sequential_depth`."""
    return reference.sequential_depth(kind, **_whole_numbers(dims))
