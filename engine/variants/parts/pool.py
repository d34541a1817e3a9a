"""Pools: options, prompts and cards of which each variant shows some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any, Protocol

from engine.plurals import agree, counted
from engine.variants.expressions import evaluate_truth
from engine.variants.parameters import ImpossibleDraw
from engine.variants.stream import Stream

__all__ = ["Conditional", "MixedPool", "Pool", "offered"]

MOST_RIGHT = 4  # of the options that one variant of a multiple choice shows


class Conditional(Protocol):
    """An entry that may belong to some variants only."""

    @property
    def when(self) -> str | None:
        """The condition, None where the entry always belongs."""
        ...


def offered(entries: Sequence[Conditional], names: Mapping[str, Any]) -> list[int]:
    """Return the positions of the entries that this variant may show.

    Raises
    ------
    engine.errors.ExpressionError
        A condition is faulty.
    """
    return [
        i
        for i, entry in enumerate(entries)
        if entry.when is None or evaluate_truth(entry.when, names, exact=True)
    ]


class Pool:
    """Positions of which a number is drawn, in each of several groups.

    Parameters
    ----------
    groups : sequence of (str, sequence of int, int or None)
        What the group is called in messages, its positions, and how many of them are drawn (None: all).

    Raises
    ------
    ImpossibleDraw
        A group holds fewer positions than are to be drawn.
    """

    def __init__(self, *groups: tuple[str, Sequence[int], int | None]) -> None:
        self._groups = [
            (name, list(there), len(there) if take is None else take) for name, there, take in groups
        ]
        for name, there, take in self._groups:
            if take > len(there):
                raise ImpossibleDraw(f"{take} {name} are to be drawn, and this variant has {len(there)}")

    def draw(self, stream: Stream) -> list[int]:
        """Return the drawn positions in order."""
        return sorted(
            position
            for _, there, take in self._groups
            for position in (there if take == len(there) else stream.sample(there, take))
        )

    @property
    def signature(self) -> tuple[str, int, tuple[int, ...]]:
        """``"pool"``, the number of selections, and what is drawn from: see :class:`Draft`."""
        count = 1
        for _, there, take in self._groups:
            count *= comb(len(there), take)
        return "pool", count, tuple(position for _, there, _ in self._groups for position in there)


class MixedPool:
    """Right and wrong options of which each variant shows equally many; how many of them are right differs.

    One to four are right, as far as the pool has them; each number is equally likely, so that neither the
    item nor other items of its kind tell how many to pick.

    Parameters
    ----------
    right, wrong : sequence of int
        Positions of the right and of the wrong options.
    shown : int
        How many options a variant shows.

    Raises
    ------
    ImpossibleDraw
        The pool holds fewer options, or all that a variant shows would be right, or wrong.
    """

    def __init__(self, right: Sequence[int], wrong: Sequence[int], shown: int) -> None:
        self.counts = range(max(1, shown - len(wrong)), min(MOST_RIGHT, len(right), shown - 1) + 1)
        if not self.counts:
            raise ImpossibleDraw(
                f"{counted(shown, 'option')} {agree(shown, 'are')} to be drawn, and this variant has "
                f"{len(right)} right and {len(wrong)} wrong"
            )
        self._pools = [
            Pool(("right options", right, count), ("wrong options", wrong, shown - count))
            for count in self.counts
        ]

    def draw(self, stream: Stream) -> list[int]:
        """Return the drawn positions in order."""
        return stream.choice(self._pools).draw(stream)

    @property
    def signature(self) -> tuple[str, int, tuple[int, ...]]:
        """As :attr:`Pool.signature`."""
        _, _, there = self._pools[0].signature
        return "pool", sum(pool.signature[1] for pool in self._pools), there
