"""Answer types: each drafts its field, reads what people type, judges it, and explains.

This registry is the only list of them.  It knows names without importing anything, so that a command's
``--help`` can show them, and imports a type's file when one of its parts is met.

A type from outside the engine is registered once, before items of it are read:

>>> from engine.answers import register
>>> register(YesNo())  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.answers.base import AnswerType, FieldContext, FieldDraft
    from engine.model import Part

__all__ = [
    "answer_kinds",
    "answer_type",
    "answer_types",
    "blank_hint",
    "chance_score",
    "draft_field",
    "interval_text",
    "kind_of",
    "policy_text",
    "register",
    "right_response",
    "right_responses",
    "unregister",
    "wrong_responses",
]

# Name → the class of :mod:`engine.answers` that holds everything of it.
_BUILT_IN = {
    "single_choice": "single_choice.SingleChoice",
    "multiple_choice": "multiple_choice.MultipleChoice",
    "number": "number.Number",
    "vector": "vector.Vector",
    "matrix": "matrix.Matrix",
    "ordering": "ordering.Ordering",
    "matching": "matching.Matching",
    "token": "token.Token",
    "free_text": "free_text.FreeText",
    "code": "code.CodeFile",
}
# Types have no state: one object of each serves all parts and threads.
_loaded: dict[str, AnswerType] = {}


def register(kind: AnswerType) -> None:
    """Add an answer type from outside the engine, or replace one of the same name.

    Parameters
    ----------
    kind : AnswerType
        With its ``name``, and with ``spec``: the model of what an item file says of such a field.
    """
    from engine.items.problem_spec import add_answer_spec

    if kind.spec is None:
        raise ValueError(
            f"the answer type {kind.name!r} doesn't say what an item file holds: spec is missing"
        )
    add_answer_spec(kind.name, kind.spec)
    _loaded[kind.name] = kind


def unregister(name: str) -> None:
    """Take an answer type out again that :func:`register` added."""
    from engine.items.problem_spec import remove_answer_spec

    remove_answer_spec(name)
    del _loaded[name]


def answer_kinds() -> tuple[str, ...]:
    """Return the names of all answer types, those that are handed in as files included."""
    return tuple(dict.fromkeys([*_BUILT_IN, *_loaded]))


def answer_types() -> tuple[str, ...]:
    """Return the names of the types whose answers are typed."""
    return tuple(name for name in answer_kinds() if kind_of(name).takes_text)


def kind_of(name: str) -> AnswerType:
    """Return an answer type by its name, code included.

    Raises
    ------
    engine.errors.UsageError
        There is none of this name.
    """
    if name not in _loaded:
        if name not in _BUILT_IN:
            raise _unknown(name)
        module, class_name = _BUILT_IN[name].split(".")
        _loaded[name] = getattr(import_module(f"{__name__}.{module}"), class_name)()
    return _loaded[name]


def _unknown(name: str) -> UsageError:
    return UsageError(
        f"an answer of type {name} can't be typed",
        expected=f"one of {', '.join(answer_types())}",
        next_step="hand in a file" if name == "code" else None,
    )


def answer_type(name: str) -> AnswerType:
    """Return an answer type whose answers are typed, by its name.

    Raises
    ------
    engine.errors.UsageError
        No answer is typed for this type (code is handed in as a file).
    """
    kind = _loaded.get(name) or kind_of(name)
    if not kind.takes_text:
        raise _unknown(name)
    return kind


def draft_field(answer: Any, context: FieldContext) -> FieldDraft:
    """Draft the field that an answer spec describes; see :meth:`engine.answers.base.AnswerType.draft`."""
    return kind_of(answer.type).draft(answer, context)


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
    kind = kind_of(part.type)
    hint = kind.blank_hint(part)
    return f"{hint}; {kind.policy(part)}" if kind.shows_policy else hint


def policy_text(part: Part) -> str:
    """Return how the part is scored, in one sentence."""
    return answer_type(part.type).policy(part)


def interval_text(part: Part) -> str:
    """Return the interval that counts as right, entry by entry: shown only with the key."""
    return answer_type(part.type).interval_text(part)


def chance_score(part: Part) -> float:
    """Return the share of the marks that blind guessing earns on average."""
    return answer_type(part.type).chance_score(part)
