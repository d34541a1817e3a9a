"""The column of the gradebook that an attempt belongs to."""

from __future__ import annotations

from collections.abc import Callable

from engine.course import Column
from engine.model import Quiz
from engine.store import Attempt

__all__ = ["column_of"]


def column_of(attempt: Attempt, quiz: Quiz | None, title_of: Callable[[str], str]) -> Column:
    """Return the column of an attempt.

    Parameters
    ----------
    attempt : Attempt
    quiz : Quiz or None
        That it answers.
    title_of : callable
        Item id → title.
    """
    if quiz is None:
        # "~" sorts code after the quizzes.
        return Column("~", 0, attempt.item, title_of(attempt.item), attempt.report.max_score)
    question = next((q for q in quiz.questions if q.variant.item == attempt.item), None)
    number = question.number if question else len(quiz.questions) + 1
    if question is not None and question.own_family:
        return Column(quiz.name, number, f"question-{number}", f"Question {number}", attempt.report.max_score)
    title = attempt.variant.title if attempt.variant else attempt.item
    return Column(quiz.name, number, attempt.item, title, attempt.report.max_score)
