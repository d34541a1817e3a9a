"""Parameter kinds, one file each: every one draws decimal strings, never binary floats.

``draw_parameter`` looks the kind up by name.  A new kind is a new file and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.model import Drawn
from engine.variants.parameters import (
    choice,
    decimal,
    fixed,
    integer,
    matrix,
    probability_tree,
    vector,
    weights,
)
from engine.variants.parameters.grid import MAX_SIZE, ImpossibleDraw, Redraw, size_of
from engine.variants.stream import Stream

__all__ = ["MAX_SIZE", "ImpossibleDraw", "Redraw", "draw_parameter", "size_of"]

_KINDS: dict[str, Callable[[Any, Stream, Mapping[str, Any]], Drawn]] = {
    "fixed": fixed.draw,
    "integer": integer.draw,
    "decimal": decimal.draw,
    "choice": choice.draw,
    "vector": vector.draw,
    "matrix": matrix.draw,
    "weights": weights.draw,
    "probability_tree": probability_tree.draw,
}


def draw_parameter(spec: Any, stream: Stream, names: Mapping[str, Any]) -> Drawn:
    """Draw one parameter.

    Parameters
    ----------
    spec : one of :data:`engine.spec.schema.ParameterSpec`
    stream : Stream
    names : mapping of str to value
        The parameters before it, which sizes may use.

    Raises
    ------
    Redraw
        This try failed (say, no distinct rows); another may succeed.
    ImpossibleDraw
        No try can succeed: the range is empty, or the size is no whole number from 1 to 16.
    """
    return _KINDS[spec.kind](spec, stream, names)
