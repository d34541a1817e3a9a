"""A whole number between two bounds."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from engine.model import Drawn
from engine.spec.schema import IntegerParameter
from engine.variants.parameters.grid import grid
from engine.variants.stream import Stream

__all__ = ["draw"]


def draw(spec: IntegerParameter, stream: Stream, names: Mapping[str, Any]) -> Drawn:
    """Draw a whole number, both bounds included."""
    low, high = map(Decimal, spec.range)
    return Drawn((), (stream.choice(grid(low, high, Decimal(1), tuple(map(Decimal, spec.exclude)))),))
