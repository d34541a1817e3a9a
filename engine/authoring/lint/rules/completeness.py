"""An item helps whoever gets stuck or goes wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator

from engine.lint.finding import Finding
from engine.lint.subject import Subject
from engine.plurals import counted
from engine.spec.schema import MultipleChoiceAnswer, SingleChoiceAnswer

__all__ = ["check"]

RULE = "completeness"
# Marks pay for work: most items of the bank earn a point in two to four minutes. Below 0.2 points a minute
# nobody begins, above 0.75 a quick guess is worth as much as a page of work. One point is never too much.
# By hand six multiplications or function values a minute are quick; a part takes its minute to be read and
# answered, or most of it; what is hard isn't seen at once; a choice without numbers is a matter of minutes.
_OPERATIONS_PER_MINUTE, _LEAST_PER_PART, _HARD, _MOST_PER_CHOICE = 8, 0.6, 2, 8
_UNEVEN = 5  # the points of one step beside those of another
_LEAST_PER_MINUTE, _MOST_PER_MINUTE = 0.2, 0.75


def check(subject: Subject) -> Iterator[Finding]:
    """Yield solutions without the variant's numbers, silent options of pools, points out of keeping."""
    yield from _points(subject)
    spec = subject.spec
    # that hints or the solution are missing is told by the prose rule, strict or not
    if spec.solution and "{{" not in spec.solution and _shows_numbers(subject):
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


def _points(subject: Subject) -> Iterator[Finding]:
    minutes, points = subject.spec.minutes, subject.spec.points
    if minutes is None:
        return
    yield from _minutes(subject, minutes)
    shares = [step.points for step in subject.spec.steps]
    if shares and max(shares) > _UNEVEN * min(shares):
        yield subject.warning(
            RULE,
            "one step is worth many times another one",
            ("steps", shares.index(max(shares)), "points"),
            expected=f"at most {_UNEVEN:g} times as much",
            got=", ".join(f"{share:g}" for share in shares),
        )
    least, most = _LEAST_PER_MINUTE * minutes, max(1.0, _MOST_PER_MINUTE * minutes)
    if not least <= points <= most:
        yield subject.warning(
            RULE,
            "the points are out of keeping with the time that the item takes",
            ("points",) if "points" in subject.spec.model_fields_set else (),
            expected=f"{least:.3g} to {counted(most, 'point', '.3g')} for {counted(minutes, 'minute', 'g')}",
            got=f"{points:g}",
            next_step="change `points`, those of the steps, or `minutes`",
        )


def _minutes(subject: Subject, minutes: float) -> Iterator[Finding]:
    """Yield a time in which nobody can do the item, or that nothing in it takes."""
    spec = subject.spec
    if subject.is_code:
        return
    operations = spec.effort.operations if spec.effort is not None else 0
    least = max(operations / _OPERATIONS_PER_MINUTE, _LEAST_PER_PART * len(spec.answers))
    least = max(least, _HARD) if spec.difficulty >= 4 else least
    works = spec.effort is not None or any(getattr(answer, "key", None) for _, answer in spec.answers)
    if minutes < least:
        yield subject.warning(
            RULE,
            "the item can't be done in the time that it states",
            ("minutes",),
            expected=f"at least {counted(math.ceil(least * 2) / 2, 'minute', 'g')}",
            got=f"{minutes:g}",
        )
    elif not works and minutes > _MOST_PER_CHOICE * len(spec.answers):
        yield subject.warning(
            RULE,
            "the item asks for nothing that takes the time that it states",
            ("minutes",),
            expected=f"at most {counted(_MOST_PER_CHOICE * len(spec.answers), 'minute', 'g')}",
            got=f"{minutes:g}",
        )


def _shows_numbers(subject: Subject) -> bool:
    """Tell whether every variant asks about drawn numbers; cards of a pool may be missing."""
    spec = subject.spec
    asked = " ".join((spec.stem, *(step.prompt for step in spec.steps)))
    computed = any(getattr(answer, "key", None) is not None for _, answer in spec.answers)
    drawn = any(parameter.kind != "fixed" for parameter in spec.parameters.values())
    return drawn and (computed or "{{" in asked)
