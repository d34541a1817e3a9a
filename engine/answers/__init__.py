"""Answer types: how each reads what people type, judges it, and explains.

The registry knows them by name; a new type is a new file and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.answers import (
    matching,
    multiple_choice,
    numeric_draft,
    ordering,
    single_choice,
    token,
)
from engine.answers.answer_type import (
    AnswerJudgement,
    AnswerType,
    FieldContext,
    FieldDraft,
    FieldRenderer,
    PartResult,
)
from engine.answers.matching import Matching
from engine.answers.multiple_choice import MultipleChoice
from engine.answers.numeric import Matrix, Number, Vector, interval_text
from engine.answers.ordering import Ordering
from engine.answers.single_choice import SingleChoice
from engine.answers.token import Token
from engine.errors import UsageError
from engine.model import Part

__all__ = [
    "AnswerJudgement",
    "AnswerType",
    "FieldContext",
    "FieldDraft",
    "FieldRenderer",
    "PartResult",
    "answer_type",
    "answer_types",
    "blank_hint",
    "chance_score",
    "draft_field",
    "interval_text",
    "policy_text",
    "right_response",
    "right_responses",
    "wrong_responses",
]

_TYPES: dict[str, AnswerType] = {
    kind.name: kind
    for kind in (
        SingleChoice(),
        MultipleChoice(),
        Number(),
        Vector(),
        Matrix(),
        Ordering(),
        Matching(),
        Token(),
    )
}


def answer_types() -> tuple[str, ...]:
    """Return the names of all answer types."""
    return tuple(_TYPES)


def answer_type(name: str) -> AnswerType:
    """Return an answer type by its name.

    Raises
    ------
    engine.errors.UsageError
        No answer is typed for this type (code is handed in as a file).
    """
    if name not in _TYPES:
        raise UsageError(
            f"an answer of type {name} can't be typed",
            expected=f"one of {', '.join(_TYPES)}",
            next_step="hand in a file" if name == "code" else None,
        )
    return _TYPES[name]


def right_response(part: Part) -> str:
    """Return the key as it would be typed."""
    return right_responses(part)[0]


def right_responses(part: Part) -> list[str]:
    """Return the key in every notation that must be accepted."""
    return answer_type(part.type).right_responses(part)


def wrong_responses(part: Part) -> list[tuple[str, str | None]]:
    """Return wrong answers, each with the known mistake that it stands for."""
    return answer_type(part.type).wrong_responses(part)


def blank_hint(part: Part) -> str:
    """Return in a few words what is to be entered, and how it scores where that isn't all or nothing."""
    if part.type == "code":
        return "a file with the function"
    kind = answer_type(part.type)
    hint = kind.blank_hint(part)
    return f"{hint}; {kind.policy(part)}" if kind.shows_policy else hint


def policy_text(part: Part) -> str:
    """Return how the part is scored, in one sentence."""
    return answer_type(part.type).policy(part)


def chance_score(part: Part) -> float:
    """Return the share of the marks that blind guessing earns on average."""
    return answer_type(part.type).chance_score(part)


# ----------------------------------------------------------------------------------------------------
# Answer specs into parts of a variant, one file for each kind of field.

_KINDS: dict[str, Callable[[Any, FieldContext], FieldDraft]] = {
    "single_choice": single_choice.draft,
    "multiple_choice": multiple_choice.draft,
    "number": numeric_draft.draft,
    "vector": numeric_draft.draft,
    "matrix": numeric_draft.draft,
    "ordering": ordering.draft,
    "matching": matching.draft,
    "token": token.draft,
    "code": token.draft_code,
}


def draft_field(answer: Any, context: FieldContext) -> FieldDraft:
    """Draft the field that an answer spec describes.

    Raises
    ------
    Redraw
        This try doesn't serve, another may.
    ImpossibleDraw, engine.errors.ExpressionError
        The spec is at fault.
    """
    return _KINDS[answer.type](answer, context)
