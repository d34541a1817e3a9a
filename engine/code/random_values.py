"""Randomness of a plan: hypothesis draws the specs of inputs, PCG64's raw integers fill them.

Both are functions of the seed alone, for one version of hypothesis (the constraints file pins it).
Strategies must draw integers below 100 only: to larger ones hypothesis adds constants that it finds in
whatever modules happen to be loaded, and the plan would depend on the process.

The values are small multiples of 1/8, which every floating dtype from float16 on holds exactly, so
relations such as x + 1e4 are exact in float64 and float32.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.text.files import keep_libraries_tidy
from engine.text.words import count_noun

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")
_lock = threading.Lock()  # one hypothesis engine at a time, whatever the thread


def draw_specs(strategy: SearchStrategy[T], count: int, seed: bytes) -> list[T]:
    """Return `count` different examples of a strategy, the same for the same seed.

    Hypothesis tries the smallest example first and then random ones; examples that repeat are dropped.
    Inside a hypothesis test of the caller's, its health check ``nested_given`` must be off.

    Raises
    ------
    ValueError
        The strategy has fewer than `count` examples.
    """
    with _lock:
        examples = _examples(strategy, 4 * count + 8, seed)
    if len(examples) < count:
        raise ValueError(f"the strategy has fewer than {count_noun(count, 'example')}")
    return examples[-count:]  # the first ones are the smallest, the last ones the most varied


def _examples(strategy: SearchStrategy[T], most: int, seed: bytes) -> list[T]:
    keep_libraries_tidy()  # for callers that don't come through the command line
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    examples: dict[Any, T] = {}

    @seeded(int.from_bytes(hashlib.sha256(b"specs" + seed).digest()[:8], "big"))
    @settings(
        max_examples=most,
        database=None,  # nothing of an earlier run may come back: the plan depends on the seed alone
        deadline=None,
        phases=[Phase.generate],  # no shrinking: nothing fails here
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: T) -> None:
        examples.setdefault(example, example)

    collect()
    return list(examples.values())


def unequal_sizes(
    count: int, among: Sequence[int] = (2, 3, 4, 5), *, least: Mapping[int, int] = MappingProxyType({})
) -> SearchStrategy[tuple[int, ...]]:
    """Return a strategy for sizes no two of which are equal, so that every transposed matrix shows.

    Parameters
    ----------
    count : int
    among : sequence of int
        As many as `count` or more.
    least : mapping of int to int
        The smallest size allowed, by position.
    """
    from hypothesis import strategies as st

    sizes = st.permutations(among).map(lambda order: tuple(order[:count]))
    if not least:
        return sizes
    return sizes.filter(lambda order: all(order[place] >= size for place, size in least.items()))


def integers(low: int, high: int) -> SearchStrategy[int]:
    """Return a strategy for integers from `low` to `high`, both included and below 100 (see the module)."""
    from hypothesis import strategies as st

    return st.integers(low, high)


def hundreds(low: int, high: int) -> SearchStrategy[float]:
    """Return a strategy for 100 times an integer from `low` to `high`."""
    # the factor belongs to the strategy: hypothesis draws other sizes beside it when it is applied outside
    return integers(low, high).map(lambda count: 100.0 * count)


def together(*strategies: SearchStrategy[Any]) -> SearchStrategy[tuple[Any, ...]]:
    """Return a strategy for one example of every strategy."""
    from hypothesis import strategies as st

    return st.tuples(*strategies)


def draw_sizes(seed: bytes, *strategies: SearchStrategy[Any], different: int = 0) -> tuple[Any, ...]:
    """Return one example of every strategy; no two of the first `different` ones are equal."""
    sizes = together(*strategies)
    if different:  # hypothesis likes to draw the same again
        sizes = sizes.filter(lambda drawn: len(set(drawn[:different])) == different)
    return draw_specs(sizes, 1, seed)[0]


def spread(size: int) -> NDArray[np.float64]:
    """Return 0, 1, 2 … where they stay below 8, else as many numbers that do, no two equal."""
    step = 1.0
    while step * (size - 1) >= 8:
        step /= 2
    return np.asarray(np.arange(size) * step, dtype=np.float64)


class ExactValues:
    """A stream of small exact numbers, a function of the seed."""

    def __init__(self, seed: bytes) -> None:
        self._bits = np.random.PCG64(int.from_bytes(hashlib.sha256(b"values" + seed).digest(), "big"))

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Return integers from `low` to `high`, both included."""
        count = math.prod(shape)
        # raw integers, whose stream numpy keeps from version to version; its distributions may change
        raw = np.asarray(self._bits.random_raw(count), dtype=np.uint64).reshape(shape)
        return (raw % np.uint64(high - low + 1)).astype(np.int64) + low

    def eighths(self, bound: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return multiples of 1/8 from -bound to bound."""
        return self.integers(-8 * bound, 8 * bound, shape) / 8.0

    def distinct(self, bound: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return multiples of 1/8 from -bound to bound, of 1/16 and so on if need be, no two equal."""
        size, steps = math.prod(shape), 8
        while size > 2 * steps * bound + 1:
            steps *= 2
        available = 2 * steps * bound + 1
        return (self.order(available)[:size].reshape(shape) - steps * bound) / float(steps)

    def shuffled(self, size: int) -> NDArray[np.int64]:
        """Return any permutation of 0 … size-1, each as likely as the others."""
        # of 2**40 numbers two are hardly ever equal, so every order is as likely
        return np.argsort(self.integers(0, 2**40, (size,)), kind="stable")

    def order(self, size: int) -> NDArray[np.int64]:
        """Return a permutation of 0 … size-1 that moves something; size 2 or more."""
        order = self.shuffled(size)
        return np.roll(order, 1) if np.array_equal(order, np.arange(size)) else order

    def partial_mask(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return a mask under which every row sees something and misses something."""
        mask = np.empty(shape, dtype=bool)
        for row in mask.reshape(-1, shape[-1]):
            row[:] = self.integers(0, 1, row.shape) == 1
            order = self.order(len(row))
            row[order[0]], row[order[1]] = True, False
        return mask

    def weights(self, shape: tuple[int, ...], *, step: int, noise: int, total: int) -> NDArray[np.float64]:
        """Return positive rows that sum to 1 exactly, no two entries of a row equal.

        Parameters
        ----------
        shape : tuple of int
        step, noise : int
            All entries but the largest lie `step` apart, plus 0 … `noise`, in units of 1/`total`.
        total : int
            A power of two, large enough for the largest entry to take up the rest.
        """
        n = shape[-1]
        rows = []
        for _ in range(math.prod(shape[:-1])):
            parts = step * (1 + self.shuffled(n)) + self.integers(0, noise, (n,))
            parts[np.argmax(parts)] += total - parts.sum()
            rows.append(parts / total)
        return np.array(rows).reshape(shape)
