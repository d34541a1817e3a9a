"""A decoding table: one row of next-token probabilities for every prefix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.model import Drawn
from engine.spec.schema import ProbabilityTreeParameter
from engine.variants.parameters.grid import composition, decimal_text
from engine.variants.parameters.weights import steps_of_one
from engine.variants.stream import Stream

__all__ = ["draw"]


def draw(spec: ProbabilityTreeParameter, stream: Stream, names: Mapping[str, Any]) -> Drawn:
    """Draw the rows in the order of the prefixes (), (0), (1) … (0,0), (0,1) …

    Each row holds positive multiples of the step, no two equal, that sum to 1.
    """
    words, steps = spec.vocabulary, steps_of_one(spec.step)
    rows = sum(words**length for length in range(spec.depth))
    entries = [
        decimal_text(part * spec.step)
        for _ in range(rows)
        for part in composition(steps, words, stream, distinct=True)
    ]
    return Drawn((rows, words), tuple(entries))
