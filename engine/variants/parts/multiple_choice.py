"""Multiple choice: several right options, all shown or drawn from a pool."""

from __future__ import annotations

from typing import Any

from engine.spec.schema import MultipleChoiceAnswer
from engine.variants.parts.draft import Draft, FieldContext
from engine.variants.parts.pool import MixedPool
from engine.variants.parts.written import WrittenOptions

__all__ = ["draft"]


def draft(answer: MultipleChoiceAnswer, context: FieldContext) -> Draft:
    """Draft a multiple-choice field.

    Raises
    ------
    ImpossibleDraw
        The pool can't give what ``draw`` asks for, or no or every option is right.
    """
    options = WrittenOptions(answer, context, "at least one right and one wrong option are needed")
    settings: dict[str, Any] = {"policy": answer.policy}
    if isinstance(options.pool, MixedPool):
        settings["right_counts"] = list(options.pool.counts)
    return Draft(None, options.pool.signature, options.builder(settings))
