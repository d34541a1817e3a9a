"""Reading an attempt: what of it the figures need."""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.answers import answer_type
from engine.errors import ResponseFormatError
from engine.foreign import clean_line
from engine.itemreport.work import Made, OptionSeen, PartWork, Work
from engine.model import Check, Drawn, Part, Variant
from engine.store import Attempt

__all__ = ["work_of"]

_LONGEST_LABEL = 120
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_CHOICES = frozenset({"single_choice", "multiple_choice"})


def work_of(attempt: Attempt, number: int, title: str) -> Work:
    """Return what the figures need of an attempt.

    Points are those of the answer itself: what a quiz's rules take off for hints or late tries says
    nothing about the item.
    """
    report, variant = attempt.report, attempt.variant
    texts = attempt.response.answers if attempt.response else {}
    graded = attempt.settled and variant is not None
    parts = variant.parts if variant is not None else ()
    seen = {one.misconception: clean_line(one.message, 500) for one in report.diagnosis}
    return Work(
        student=attempt.student,
        item=attempt.item,
        title=title,
        number=number,
        share=_share(attempt),
        full=report.max_score,
        is_blank=attempt.is_blank,
        parts=tuple(_part_work(part, report.checks) for part in parts if graded and len(parts) > 1),
        checks=report.checks if variant is None else (),
        diagnoses=seen,
        possible=frozenset() if variant is None else _known(variant),
        variant=_in_words(variant.values) if variant is not None else "",
        numbers=_numbers(variant.values) if variant is not None else {},
        made=tuple(_made(part, texts.get(part.id, "")) for part in parts if _is_choice(part))
        if graded
        else (),
    )


def _is_choice(part: Part) -> bool:
    """Tell whether options of a part are chosen."""
    return part.type in _CHOICES


def _share(attempt: Attempt) -> float | None:
    report = attempt.report
    if not attempt.settled or report.score is None or report.max_score <= 0:
        return None
    earned = report.score if report.credit == 1 else sum(check.points for check in report.checks)
    return min(1.0, max(0.0, earned / report.max_score))


def _part_work(part: Part, checks: tuple[Check, ...]) -> PartWork:
    own = next((check for check in checks if check.id == part.id), None)
    share = own.points / part.points if own is not None and part.points else 0.0
    return PartWork(part.id, min(1.0, max(0.0, share)), part.points)


def _known(variant: Variant) -> frozenset[str]:
    options = (option.misconception for part in variant.parts for option in part.options)
    wrong = (wrong.misconception for part in variant.parts for wrong in part.known_wrong)
    return frozenset(name for name in (*options, *wrong) if name)


def _in_words(values: Mapping[str, Drawn]) -> str:
    told = ", ".join(f"{name} = {_entries(drawn)}" for name, drawn in values.items())
    return clean_line(told, 2000)


def _entries(drawn: Drawn) -> str:
    return drawn.entries[0] if drawn.shape == () and drawn.entries else f"[{' '.join(drawn.entries)}]"


def _numbers(values: Mapping[str, Drawn]) -> dict[str, float]:
    found = {}
    for name, drawn in values.items():
        if drawn.text or not all(_NUMBER.fullmatch(entry) for entry in drawn.entries):
            continue
        numbers = [float(entry) for entry in drawn.entries]
        if drawn.shape == () and numbers:
            found[name] = numbers[0]
        elif numbers:
            found[f"largest |{name}|"] = max(abs(number) for number in numbers)
    return found


def _made(part: Part, text: str) -> Made:
    shown = tuple(
        OptionSeen(clean_line(option.text.plain, _LONGEST_LABEL), option.correct, option.misconception or "")
        for option in part.options
    )
    return Made(part.id, shown, _chosen(part, text))


def _chosen(part: Part, text: str) -> tuple[int, ...]:
    if not text.strip():
        return ()
    try:
        answer = answer_type(part.type).parse(text, part)
    except ResponseFormatError:
        return ()
    if not isinstance(answer, str | frozenset):
        # an erratum accepts a printed option: it counts as the right one
        return tuple(i for i, option in enumerate(part.options) if option.correct)
    ids = {answer} if isinstance(answer, str) else answer
    return tuple(i for i, option in enumerate(part.options) if option.id in ids)
