"""The texts of a problem file as they are written, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.lint.subject import Loc
from engine.spec.schema import AnswerSpec, CodeAnswer, Misconception, OrderingAnswer, ProblemSpec

__all__ = ["NUMBER_WORDS", "TEMPLATE_SPAN", "Written", "written_texts"]

NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
"""Small numbers as texts spell them; a word's position is its value."""
TEMPLATE_SPAN = re.compile(r"\{\{((?:[^{}]|\{(?!\{)|\}(?!\}))*+)\}\}", re.DOTALL)
"""An expression between two braces, which a variant fills in."""

_POOLS = ("options", "cards", "prompts", "targets")


@dataclass(frozen=True, slots=True)
class Written:
    """One text that students read.

    Parameters
    ----------
    text : str
        With its templates.
    loc : tuple
        Its place in the file.
    kind : str
        ``stem``, ``hint``, ``solution``, ``erratum``, ``prompt``, ``option`` (cards, prompts and targets too)
        or ``feedback`` (that of known mistakes, failed checks and known-wrong programs too).
    """

    text: str
    loc: Loc
    kind: str


def written_texts(spec: ProblemSpec) -> Iterator[Written]:
    """Yield every text that stands in an item's file; the registry's sentences aren't among them."""
    yield Written(spec.stem, ("stem",), "stem")
    for index, hint in enumerate(spec.hints):
        yield Written(hint, ("hints", index), "hint")
    for index, erratum in enumerate(spec.errata):
        yield Written(erratum.note, ("errata", index, "note"), "erratum")
    if spec.solution is not None:
        yield Written(spec.solution, ("solution",), "solution")
    if spec.answer is not None:
        yield from _of_answer(spec.answer, ("answer",))
    for index, step in enumerate(spec.steps):
        yield Written(step.prompt, ("steps", index, "prompt"), "prompt")
        yield from _of_answer(step.answer, ("steps", index, "answer"))
        yield from _of_mistakes(step.misconceptions, ("steps", index))
    yield from _of_mistakes(spec.misconceptions, ())


def _of_mistakes(mistakes: Sequence[Misconception], loc: Loc) -> Iterator[Written]:
    for index, mistake in enumerate(mistakes):
        if mistake.feedback:
            yield Written(mistake.feedback, (*loc, "misconceptions", index, "feedback"), "feedback")


def _of_answer(answer: AnswerSpec, loc: Loc) -> Iterator[Written]:
    for pool in _POOLS:
        for index, entry in enumerate(getattr(answer, pool, ())):
            yield Written(entry.text, (*loc, pool, index, "text"), "option")
            if feedback := getattr(entry, "feedback", None):
                yield Written(feedback, (*loc, pool, index, "feedback"), "feedback")
    if isinstance(answer, OrderingAnswer) and answer.feedback:
        yield Written(answer.feedback, (*loc, "feedback"), "feedback")
    if isinstance(answer, CodeAnswer):
        for index, check in enumerate(answer.checks):
            if check.message:
                yield Written(check.message, (*loc, "checks", index, "message"), "feedback")
        for index, mutant in enumerate(answer.mutants):
            if mutant.feedback:
                yield Written(mutant.feedback, (*loc, "mutants", index, "feedback"), "feedback")
