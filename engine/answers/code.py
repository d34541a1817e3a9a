"""Code: a function to write; its plan and checks belong to :mod:`engine.code`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.answers.base import AnswerType, FieldContext, FieldDraft, FieldRenderer
from engine.draws import RandomStream
from engine.model import Part

if TYPE_CHECKING:
    from engine.items import CodeAnswer


class CodeFile(AnswerType):
    """A file with a function: drafted like any field, so that items of code have variants too."""

    name = "code"
    takes_text = False

    def draft(self, answer: CodeAnswer, context: FieldContext) -> FieldDraft:
        """Draft a code field."""

        def build(renderer: FieldRenderer, stream: RandomStream) -> Part:
            settings = {"function": answer.function, "signature": answer.signature}
            return Part("", answer.type, 1.0, settings=settings)

        return FieldDraft(None, "code", build)

    def blank_hint(self, part: Part) -> str:
        """Return that a file is handed in."""
        return "a file with the function"
