"""Every wrong option, pair and order has feedback that explains what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.answers import kind_of
from engine.authoring.lint.subject import LintFinding, LintSubject
from engine.items import MatchingAnswer, MultipleChoiceAnswer, OrderingAnswer, SingleChoiceAnswer


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield a warning for each answer that would be marked wrong without an explanation."""
    spec = subject.spec
    if spec.answer is not None:
        yield from _of_answer(subject, spec.answer, ("answer",))
    for index, step in enumerate(spec.steps):
        yield from _of_answer(subject, step.answer, ("steps", index, "answer"))
        yield from _of_numbers(subject, step.answer, bool(step.misconceptions), ("steps", index))
    if spec.answer is not None:
        yield from _of_numbers(subject, spec.answer, bool(spec.misconceptions), ("answer",))


def _of_answer(subject: LintSubject, answer: Any, loc: tuple[int | str, ...]) -> Iterator[LintFinding]:
    if isinstance(answer, SingleChoiceAnswer | MultipleChoiceAnswer):
        for index, option in enumerate(answer.options):
            if not (option.correct or option.feedback or option.misconception):
                message = f"a wrong option says nothing to whoever chooses it: {option.text.strip()[:60]}"
                step = "give it feedback:, or a misconception: of the registry"
                yield subject.warning(message, (*loc, "options", index), next_step=step)
    elif isinstance(answer, MatchingAnswer):
        for index, prompt in enumerate(answer.prompts):
            if not prompt.feedback:
                message = f"a wrong pair would get no reason: {prompt.text.strip()[:60]}"
                yield subject.warning(message, (*loc, "prompts", index), next_step="give it feedback:")
    elif isinstance(answer, OrderingAnswer) and not answer.feedback:
        yield subject.warning("a wrong order would get no reason", loc, next_step="give it feedback:")


def _of_numbers(
    subject: LintSubject, answer: Any, has_misconceptions: bool, loc: tuple[int | str, ...]
) -> Iterator[LintFinding]:
    if answer is not None and kind_of(answer.type).is_open and not has_misconceptions:
        yield subject.warning("no known mistake is given, so a wrong answer can't be explained", loc,
            next_step="add misconceptions:",
        )  # fmt: skip
