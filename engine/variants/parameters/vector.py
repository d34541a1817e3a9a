"""A vector whose entries lie on a grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.model import Drawn
from engine.plurals import counted
from engine.spec.schema import VectorParameter
from engine.variants.parameters.grid import ImpossibleDraw, grid, size_of
from engine.variants.stream import Stream

__all__ = ["draw"]


def draw(spec: VectorParameter, stream: Stream, names: Mapping[str, Any]) -> Drawn:
    """Draw the entries; with ``distinct`` no two are equal."""
    size = size_of(spec.size, names)
    values = grid(*spec.range, spec.step, spec.exclude)
    if not spec.distinct:
        return Drawn((size,), tuple(stream.choice(values) for _ in range(size)))
    if size > len(values):
        raise ImpossibleDraw(
            f"{counted(size, 'distinct entry')}, but only {counted(len(values), 'value')} to choose from"
        )
    return Drawn((size,), tuple(stream.sample(values, size)))
