"""One student's feedback: a single HTML file that needs nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.course import ItemResult, StudentResults
from engine.model import Mode, Option, Outcome, Part, Text
from engine.report.pages import render

__all__ = ["feedback_page"]


@dataclass(frozen=True, slots=True)
class _Answered:
    """One part as answered: the options picked, or else the text typed."""

    prompt: Text | None
    text: str
    picked: tuple[Option, ...]


def feedback_page(results: StudentResults, *, title: str, solutions: bool = False) -> str:
    """Return the page of one student.

    Parameters
    ----------
    results : StudentResults
    title : str
        Of the course or exercise sheet.
    solutions : bool
        Whether worked solutions (and with them keys) are shown.
    """
    reports = [item.report for item in results.items]
    return render(
        "feedback.html.j2",
        results=results,
        title=title,
        total=sum(report.score or 0.0 for report in reports),
        waiting=any(report.outcome is Outcome.UNGRADED for report in reports),
        maximum=sum(report.max_score for report in reports),
        practice=any(report.mode is Mode.PRACTICE for report in reports),
        answered=[_answered(item) for item in results.items],
        solutions=solutions,
    )


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
