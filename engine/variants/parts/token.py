"""Token: a short text, one of those listed or what an expression gives."""

from __future__ import annotations

from typing import Any

from engine.errors import ExpressionError, UndefinedValueError
from engine.model import KnownWrong, Part
from engine.spec.schema import TokenAnswer
from engine.variants.expressions import evaluate
from engine.variants.parameters import ImpossibleDraw, Redraw
from engine.variants.parts.draft import Draft, FieldContext, Scribe
from engine.variants.stream import Stream
from engine.variants.tokens import Spelling, UnclearTextError, normal_token

__all__ = ["draft"]


def _words(text: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return " ".join(str(token) for token in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ExpressionError(
        "a token field needs a word or a sequence of tokens", where=f"expression {text[:120]!r}"
    )


def draft(answer: TokenAnswer, context: FieldContext) -> Draft:
    """Draft a token field.

    Raises
    ------
    Redraw
        A known mistake gives the key.
    ImpossibleDraw, engine.errors.ExpressionError
        The spec is at fault.
    """
    value: Any = answer.accepted[0] if answer.accepted else None
    accepted = list(answer.accepted)
    if answer.key is not None:
        value = evaluate(answer.key, context.names)
        accepted.insert(0, _words(answer.key, value))
    if not accepted:
        raise ImpossibleDraw("a token field needs accepted texts or a key")
    settings = {"case_sensitive": answer.case_sensitive, "order_credit": answer.order_credit}
    known: list[tuple[str, str]] = []
    for misconception in context.misconceptions:
        try:
            wrong = _words(misconception.expr, evaluate(misconception.expr, context.names))
        except UndefinedValueError:
            continue
        known.append((misconception.id, wrong))
    spelling = Spelling.of(accepted, [wrong for _, wrong in known], case_sensitive=answer.case_sensitive)
    if answer.order_credit and spelling.kind != "sequences":
        raise ImpossibleDraw("order_credit needs a key of several sequences, such as AA, BA")
    try:
        right = [spelling.read(text) for text in accepted]
    except UnclearTextError as reason:
        raise ImpossibleDraw(f"an accepted text can't be typed: {reason}") from None
    for name, wrong in known:
        if any(spelling.is_same(wrong, text) for text in right):
            raise Redraw(f"{name} gives another answer than the key")

    def build(scribe: Scribe, stream: Stream) -> Part:
        sentences = {m.id: m.feedback for m in context.misconceptions}
        wrong = tuple(KnownWrong(name, scribe.feedback(sentences[name], name), text=t) for name, t in known)
        return Part("", answer.type, 1.0, key_ids=tuple(accepted), known_wrong=wrong, settings=settings)

    return Draft(value, ("token", normal_token(accepted[0], answer.case_sensitive)), build)
