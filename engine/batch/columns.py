"""The column of the gradebook that an attempt belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.course import Column
from engine.model import Quiz, QuizQuestion
from engine.store import Attempt

__all__ = ["column_of", "columns_of_quiz"]


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
    if question is not None:
        return replace(_of_question(quiz, question), max_score=attempt.report.max_score)
    title = attempt.variant.title if attempt.variant else attempt.item
    return Column(quiz.name, len(quiz.questions) + 1, attempt.item, title, attempt.report.max_score, False)


def columns_of_quiz(quiz: Quiz) -> list[Column]:
    """Return the columns of all questions of a quiz."""
    return [_of_question(quiz, question) for question in quiz.questions]


def _of_question(quiz: Quiz, question: QuizQuestion) -> Column:
    number, variant = question.number, question.variant
    if question.own_family:
        return Column(quiz.name, number, f"question-{number}", f"Question {number}", question.points)
    return Column(quiz.name, number, variant.item, variant.title, question.points)
