"""Inputs beyond the usual ones: sizes past the blocks that programs work in, and sizes that don't fit.

Both go by the letters that name the axes of every argument, as :mod:`engine.code.plans.array_inputs` has
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument, flat, rebuilt
from engine.code.plans.building import PlanBuilder
from engine.code.plans.draws import Values

__all__ = ["BLOCKS", "add_longer", "longer", "misfits", "resized"]

# one more than usual block sizes: what is lost behind a block, or between two, is lost here
BLOCKS = (17, 33, 65)
_SEVERAL = 4
Sizes = TypeVar("Sizes", bound=tuple[int, ...])


def longer(sizes: Sizes, values: Values, *, keep: Sequence[int] = ()) -> list[Sizes]:
    """Return the sizes with one of them after the other beyond all usual blocks, and all beyond some.

    Parameters
    ----------
    sizes : tuple of int
    values : Values
        Draws which of the smaller blocks the last input goes beyond, in up to four of its axes.
    keep : sequence of int
        Positions that stay as they are.
    """
    free = [place for place in range(len(sizes)) if place not in keep]
    found = [_replaced(sizes, {place: BLOCKS[-1]}) for place in free]
    chosen = values.integers(0, 1, (len(free),))
    several = {place: BLOCKS[one] for place, one in list(zip(free, chosen, strict=True))[-_SEVERAL:]}
    found.append(_replaced(sizes, several))
    return found


def _replaced(sizes: Any, changed: dict[int, int]) -> Any:
    return tuple(changed.get(place, size) for place, size in enumerate(sizes))


def add_longer(
    plan: PlanBuilder,
    draw: Callable[[Any], Sequence[Argument]],
    sizes: Sequence[tuple[int, ...]],
    name: str = "longer",
    cases: str = "sizes",
) -> None:
    """Add hidden cases of these sizes, whose values are judged as ``values`` of these cases."""
    for place, one in enumerate(sizes):
        plan.judge("values", plan.case(f"{name}-{place}", *draw(one)), cases=cases)


def misfits(letters: Sequence[str], args: Sequence[Argument]) -> dict[str, tuple[Argument, ...]]:
    """Return arguments of which one axis doesn't fit the others, those that would be broadcast included.

    Parameters
    ----------
    letters : sequence of str
        Axes of every array, those of a record's too; equal letters have equal sizes.
    args : sequence of Argument
        Arguments that fit.
    """
    leaves = list(flat(args))
    shared = {letter for letter, count in Counter("".join(letters)).items() if count > 1}
    found: dict[str, tuple[Argument, ...]] = {}
    for place, own in enumerate(letters):
        array = leaves[place]
        assert isinstance(array, np.ndarray)
        for axis, letter in enumerate(own):
            if letter not in shared:
                continue
            for size in _other_sizes(array.shape[axis]):
                changed = [*leaves[:place], resized(array, axis, size), *leaves[place + 1 :]]
                found[f"{place}-{axis}-of-{size}"] = rebuilt(args, changed)
    return found


def _other_sizes(size: int) -> Iterator[int]:
    """Yield 1, which is broadcast to everything, and the neighbours of a size."""
    if size != 1:
        yield 1
    if size > 2:
        yield size - 1
    yield size + 1


def resized(array: NDArray[Any], axis: int, size: int) -> NDArray[Any]:
    """Return an array with another size of one axis; what is needed beyond its end is repeated."""
    return np.asarray(np.take(array, np.arange(size) % array.shape[axis], axis=axis))
