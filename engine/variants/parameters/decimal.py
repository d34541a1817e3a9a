"""A multiple of a step between two bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.model import Drawn
from engine.spec.schema import DecimalParameter
from engine.variants.parameters.grid import grid
from engine.variants.stream import Stream

__all__ = ["draw"]


def draw(spec: DecimalParameter, stream: Stream, names: Mapping[str, Any]) -> Drawn:
    """Draw one value of the grid, both bounds included."""
    return Drawn((), (stream.choice(grid(*spec.range, spec.step, spec.exclude)),))
