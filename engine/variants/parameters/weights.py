"""Positive weights that sum to 1 exactly."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from engine.model import Drawn
from engine.spec.schema import WeightsParameter
from engine.variants.parameters.grid import ImpossibleDraw, composition, decimal_text, size_of
from engine.variants.stream import Stream

__all__ = ["draw", "steps_of_one"]


def steps_of_one(step: Decimal) -> int:
    """Return how many steps make 1.

    Raises
    ------
    ImpossibleDraw
        1 is no multiple of the step.
    """
    if step > 1 or Decimal(1) % step != 0:
        raise ImpossibleDraw(f"1 is no multiple of the step {step}")
    return int(1 / step)


def draw(spec: WeightsParameter, stream: Stream, names: Mapping[str, Any]) -> Drawn:
    """Draw positive multiples of the step that sum to 1, each such list equally likely."""
    size = size_of(spec.size, names)
    parts = composition(steps_of_one(spec.step), size, stream, spec.distinct)
    return Drawn((size,), tuple(decimal_text(part * spec.step) for part in parts))
