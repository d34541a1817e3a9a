"""A matrix whose entries lie on a grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.model import Drawn
from engine.plurals import counted
from engine.spec.schema import MatrixParameter
from engine.variants.parameters.grid import TRIES, ImpossibleDraw, Redraw, grid, size_of
from engine.variants.stream import Stream

__all__ = ["draw"]


def draw(spec: MatrixParameter, stream: Stream, names: Mapping[str, Any]) -> Drawn:
    """Draw rows x columns entries; with ``distinct_rows`` no two rows are equal."""
    rows, columns = (size_of(size, names) for size in spec.shape)
    values = grid(*spec.range, spec.step, spec.exclude)
    if spec.distinct_rows and len(values) ** columns < rows:
        raise ImpossibleDraw(
            f"{counted(rows, 'distinct row')}, but only {counted(len(values) ** columns, 'row')} "
            "to choose from"
        )
    for _ in range(TRIES):
        drawn = [tuple(stream.choice(values) for _ in range(columns)) for _ in range(rows)]
        if not spec.distinct_rows or len(set(drawn)) == rows:
            return Drawn((rows, columns), tuple(entry for row in drawn for entry in row))
    raise Redraw(f"no {counted(rows, 'distinct row')}")
