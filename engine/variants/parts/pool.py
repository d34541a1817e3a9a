"""Pools: options, prompts and cards of which each variant shows some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any, Protocol

from engine.variants.expressions import evaluate_truth
from engine.variants.parameters import ImpossibleDraw
from engine.variants.stream import Stream

__all__ = ["Conditional", "Pool", "offered"]


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
    return [i for i, entry in enumerate(entries) if entry.when is None or evaluate_truth(entry.when, names)]


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
