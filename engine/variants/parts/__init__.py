"""Answer specs into parts of a variant, one file for each kind of field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.variants.parts import (
    code,
    matching,
    multiple_choice,
    numeric,
    ordering,
    single_choice,
    token,
)
from engine.variants.parts.draft import Draft, FieldContext, Scribe

__all__ = ["Draft", "FieldContext", "Scribe", "draft_field"]

_KINDS: dict[str, Callable[[Any, FieldContext], Draft]] = {
    "single_choice": single_choice.draft,
    "multiple_choice": multiple_choice.draft,
    "number": numeric.draft,
    "vector": numeric.draft,
    "matrix": numeric.draft,
    "ordering": ordering.draft,
    "matching": matching.draft,
    "token": token.draft,
    "code": code.draft,
}


def draft_field(answer: Any, context: FieldContext) -> Draft:
    """Draft the field that an answer spec describes.

    Raises
    ------
    Redraw
        This try doesn't serve, another may.
    ImpossibleDraw, engine.errors.ExpressionError
        The spec is at fault.
    """
    return _KINDS[answer.type](answer, context)
