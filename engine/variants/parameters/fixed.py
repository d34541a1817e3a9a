"""A value that is the same in every variant."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from engine.model import Drawn
from engine.spec.schema import FixedParameter
from engine.variants.parameters.grid import ImpossibleDraw, decimal_text
from engine.variants.stream import Stream

__all__ = ["draw"]


def draw(spec: FixedParameter, stream: Stream, names: Mapping[str, Any]) -> Drawn:
    """Return the value as it is written: a number, a word, or nested lists of numbers."""
    if isinstance(spec.value, str) and not _is_number(spec.value):
        return Drawn((), (spec.value,), text=True)
    shape, entries = _flatten(spec.value)
    return Drawn(shape, tuple(entries))


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _flatten(value: Any) -> tuple[tuple[int, ...], list[str]]:
    if not isinstance(value, list | tuple):
        if isinstance(value, bool) or not _is_number(str(value)):
            raise ImpossibleDraw(f"a fixed value holds {str(value)[:40]!r}, which is no number")
        return (), [decimal_text(Decimal(str(value)))]
    rows = [_flatten(entry) for entry in value]
    shapes = {shape for shape, _ in rows}
    if len(shapes) != 1:
        raise ImpossibleDraw("a fixed value has no entries, or rows of different lengths")
    return (len(rows), *shapes.pop()), [entry for _, entries in rows for entry in entries]
