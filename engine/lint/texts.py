"""The texts of a problem file as they are written, and where they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.lint.subject import Loc
from engine.spec.schema import AnswerSpec, ProblemSpec

__all__ = ["Written", "written_texts"]

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
        or ``feedback``.
    """

    text: str
    loc: Loc
    kind: str


def written_texts(spec: ProblemSpec) -> Iterator[Written]:
    """Yield every text of an item; the feedback of known mistakes isn't among them."""
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


def _of_answer(answer: AnswerSpec, loc: Loc) -> Iterator[Written]:
    for pool in _POOLS:
        for index, entry in enumerate(getattr(answer, pool, ())):
            yield Written(entry.text, (*loc, pool, index, "text"), "option")
            if feedback := getattr(entry, "feedback", None):
                yield Written(feedback, (*loc, pool, index, "feedback"), "feedback")
