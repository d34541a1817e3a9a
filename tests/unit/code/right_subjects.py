"""What right solutions are tried with: arguments, what an oracle gives for them, and sizes that don't fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

WIDE = ("float64", "float32")
Args = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """Arguments as float64 arrays, and how far the result's numbers are from being plain sums."""

    args: Args
    scale: float = 1.0
    """The largest sum of absolute values behind an entry of the result."""
    size: float = 30.0
    """The largest sum of absolute values behind a score or pre-activation."""
    log_size: float = 0.0
    """The largest visible score, for the styles that subtract log Z."""


@dataclass(frozen=True)
class Subject:
    cases: Callable[[np.random.Generator], Iterator[Case]]
    expected: Callable[..., Any]
    misfits: Callable[[np.random.Generator], Iterator[Args]]
    dtypes: tuple[str, ...] = WIDE
    differentiable: bool = True


def deep(change: Callable[[Any], Any], value: Any) -> Any:
    """The value with every array or tensor in it changed."""
    if isinstance(value, np.ndarray | np.generic | torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: deep(change, entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return tuple(deep(change, entry) for entry in value)
    return value


def leaves(value: Any) -> list[Any]:
    found: list[Any] = []
    deep(lambda array: found.append(array), value)
    return found


def largest(array: np.ndarray) -> float:
    return float(np.abs(array).max(initial=1.0))


def shapes(rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
    yield from [(), (), (1,), (3,), (2, 3), (1, 2, 2), (0,), (2, 0), (3,), ()]


def listwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """The oracle of nested lists, for arrays."""

    def expected(*args: Any) -> Any:
        result = function(*deep(lambda array: array.tolist(), args))
        return tuple(np.array(one) for one in result) if isinstance(result, tuple) else np.array(result)

    return expected


def wrong_sizes(
    shapes: Sequence[tuple[int, ...]], wrong: dict[int, Sequence[tuple[int, ...]]]
) -> Callable[[np.random.Generator], Iterator[Args]]:
    """Arguments of right shapes but one."""

    def misfits(rng: np.random.Generator) -> Iterator[Args]:
        for place, shape in ((place, shape) for place, wrongs in wrong.items() for shape in wrongs):
            changed = [*shapes[:place], shape, *shapes[place + 1 :]]
            yield tuple(rng.normal(size=one) for one in changed)

    return misfits


def no_misfits(_: np.random.Generator) -> Iterator[Args]:
    yield from ()
