"""The texts of a problem file and where they stand."""

from __future__ import annotations

from collections.abc import Iterator

from engine.lint.subject import Loc
from engine.spec.schema import (
    MatchingAnswer,
    MultipleChoiceAnswer,
    OrderingAnswer,
    ProblemSpec,
    SingleChoiceAnswer,
)

__all__ = ["texts_of"]

Found = tuple[str, Loc, str]


def texts_of(spec: ProblemSpec) -> Iterator[Found]:
    """Yield (text, place, kind) for everything that students read; kinds are the keys' names."""
    yield spec.stem, ("stem",), "stem"
    for index, hint in enumerate(spec.hints):
        yield hint, ("hints", index), "hint"
    if spec.solution is not None:
        yield spec.solution, ("solution",), "solution"
    if spec.answer is not None:
        yield from _of_answer(spec.answer, ("answer",))
    for index, step in enumerate(spec.steps):
        yield step.prompt, ("steps", index, "prompt"), "prompt"
        yield from _of_answer(step.answer, ("steps", index, "answer"))


def _of_answer(answer: object, loc: Loc) -> Iterator[Found]:
    if isinstance(answer, SingleChoiceAnswer | MultipleChoiceAnswer):
        for index, option in enumerate(answer.options):
            yield option.text, (*loc, "options", index, "text"), "option"
            if option.feedback:
                yield option.feedback, (*loc, "options", index, "feedback"), "feedback"
    elif isinstance(answer, MatchingAnswer):
        for index, prompt in enumerate(answer.prompts):
            yield prompt.text, (*loc, "prompts", index, "text"), "option"
            if prompt.feedback:
                yield prompt.feedback, (*loc, "prompts", index, "feedback"), "feedback"
        for index, target in enumerate(answer.targets):
            yield target.text, (*loc, "targets", index, "text"), "option"
    elif isinstance(answer, OrderingAnswer):
        for index, card in enumerate(answer.cards):
            yield card.text, (*loc, "cards", index, "text"), "option"
