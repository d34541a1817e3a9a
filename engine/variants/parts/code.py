"""Code: a function to write; its plan and checks belong to :mod:`engine.code`."""

from __future__ import annotations

from engine.model import Part
from engine.spec.schema import CodeAnswer
from engine.variants.parts.draft import Draft, FieldContext, Scribe
from engine.variants.stream import Stream

__all__ = ["draft"]


def draft(answer: CodeAnswer, context: FieldContext) -> Draft:
    """Draft a code field."""

    def build(scribe: Scribe, stream: Stream) -> Part:
        settings = {"function": answer.function, "signature": answer.signature}
        return Part("", answer.type, 1.0, settings=settings)

    return Draft(None, "code", build)
