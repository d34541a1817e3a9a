"""An item helps whoever gets stuck or goes wrong."""

from __future__ import annotations

from collections.abc import Iterator

from engine.lint.finding import Finding
from engine.lint.subject import Subject
from engine.spec.schema import MultipleChoiceAnswer, SingleChoiceAnswer

__all__ = ["check"]

RULE = "completeness"


def check(subject: Subject) -> Iterator[Finding]:
    """Yield solutions without the variant's numbers, silent options of pools."""
    spec = subject.spec
    # that hints or the solution are missing is told by the prose rule, strict or not
    if spec.solution and spec.parameters and "{{" not in spec.solution and not _all_fixed(subject):
        yield subject.warning(
            RULE,
            "the solution shows none of the variant's numbers",
            ("solution",),
            next_step="show them with {{ … }}",
        )
    answer = spec.answer
    if isinstance(answer, SingleChoiceAnswer | MultipleChoiceAnswer) and answer.draw is not None:
        for index, option in enumerate(answer.options):
            if not option.feedback:
                yield subject.warning(
                    RULE,
                    f"an option of the pool has no feedback: {option.text.strip()[:60]}",
                    ("answer", "options", index),
                    next_step="say why it is right or wrong",
                )


def _all_fixed(subject: Subject) -> bool:
    return all(parameter.kind == "fixed" for parameter in subject.spec.parameters.values())
