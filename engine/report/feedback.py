"""One student's feedback: a single HTML file that needs nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.course import ItemResult, StudentResults
from engine.model import GradeReport, Mode, Option, Outcome, Part, Text
from engine.quiz.showing import shown_report
from engine.report.pages import render
from engine.rules import Shown

__all__ = ["feedback_page"]


@dataclass(frozen=True, slots=True)
class _Answered:
    """One part as answered: the options picked, or else the text typed."""

    prompt: Text | None
    text: str
    picked: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One result as its reader may see it; ``report`` is None where it is hidden."""

    item: ItemResult
    report: GradeReport | None
    answered: list[_Answered]
    with_solution: bool


def feedback_page(results: StudentResults, *, title: str, solutions: bool = False) -> str:
    """Return the page of one student.

    Quizzes show as much as their rules allow now.

    Parameters
    ----------
    results : StudentResults
    title : str
        Of the course or exercise sheet.
    solutions : bool
        Whether worked solutions (and with them keys) are shown, whatever a quiz's rules say.
    """
    counted = [item for item in results.items if solutions or item.shown.includes(Shown.SCORE)]
    reports = [item.report for item in counted]
    return render(
        "feedback.html.j2",
        results=results,
        title=title,
        total=sum(report.score or 0.0 for report in reports),
        waiting=any(report.outcome is Outcome.UNGRADED for report in reports),
        maximum=sum(report.max_score for report in reports),
        counted=len(counted),
        practice=any(item.report.mode is Mode.PRACTICE for item in results.items),
        entries=[_entry(item, solutions) for item in results.items],
    )


def _entry(item: ItemResult, solutions: bool) -> _Entry:
    level = Shown.SOLUTION if solutions else item.shown
    showing = shown_report(item.report, item.variant, level, is_final=solutions or item.is_final)
    return _Entry(item, showing.report, _answered(item), showing.with_solution)


def _answered(item: ItemResult) -> list[_Answered]:
    if item.variant is None:
        return []
    alone = len(item.variant.parts) == 1
    return [
        _Answered(None if alone else part.prompt, item.answers.get(part.id, "").strip(), _picked(item, part))
        for part in item.variant.parts
    ]


def _picked(item: ItemResult, part: Part) -> tuple[Option, ...]:
    """Return the options that the student named, in that order; none where one isn't known."""
    if part.prompts:
        return ()
    options = {option.id.casefold(): option for option in part.options}
    named = [word for word in re.split(r"[\s,;()\[\]]+", item.answers.get(part.id, "").casefold()) if word]
    return tuple(options[word] for word in named) if named and all(word in options for word in named) else ()
