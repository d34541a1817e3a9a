"""One of the listed numbers or words."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from engine.model import Drawn
from engine.spec.schema import ChoiceParameter
from engine.variants.parameters.grid import decimal_text
from engine.variants.stream import Stream

__all__ = ["draw"]


def draw(spec: ChoiceParameter, stream: Stream, names: Mapping[str, Any]) -> Drawn:
    """Draw one entry of the list, each equally likely."""
    chosen = stream.choice(spec.options)
    if isinstance(chosen, Decimal):
        return Drawn((), (decimal_text(chosen),))
    return Drawn((), (chosen,), text=True)
