"""A returned quiz marked against the stored one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from engine.errors import QuizError
from engine.foreign import clean_line
from engine.grading import grade_answers
from engine.model import GradeReport, Mode, Quiz, QuizQuestion, Response, plain_points
from engine.plurals import counted
from engine.quiz.returned import FilledQuiz

__all__ = ["grade_quiz", "total"]


def grade_quiz(filled: FilledQuiz, quiz: Quiz, *, mode: Mode) -> list[GradeReport]:
    """Mark a returned file against the stored quiz, question by question.

    A question that is missing in the file counts as blank; one that the quiz doesn't have is an
    error; edited points or stems are ignored. The report's notes say so.

    Parameters
    ----------
    filled : FilledQuiz
        What came back.
    quiz : Quiz
        As stored.
    mode : Mode

    Returns
    -------
    list of GradeReport
        One per question of the quiz, in its order.

    Raises
    ------
    QuizError
        The file answers a question or a part that the quiz doesn't have.
    """
    known = {question.number for question in quiz.questions}
    strange = sorted(set(filled.answers) - known)
    if strange:
        raise QuizError(f"the file answers question {strange[0]}, which this quiz doesn't have")
    reports = []
    for question in quiz.questions:
        answers = filled.answers.get(question.number, {})
        ids = {part.id for part in question.variant.parts}
        unknown = sorted(set(answers) - ids) if answers else []
        if unknown and set(answers.values()) != {""}:
            raise QuizError(
                f"question {question.number} has no part {clean_line(unknown[0])!r}",
                expected=", ".join(sorted(ids)),
            )
        report = grade_answers(
            question.variant,
            Response({k: v for k, v in answers.items() if k in ids}),
            mode=mode,
            student=quiz.student,
        )
        if question.number in filled.answers:
            edits = _edits(question, filled.claims.get(question.number, {}))
        else:
            edits = (f"question {question.number} is missing in the file and counts as left blank",)
        reports.append(replace(report, notes=report.notes + edits))
    return reports


def _edits(question: QuizQuestion, claim: Mapping[str, Any]) -> tuple[str, ...]:
    notes = []
    points = claim.get("points")
    if isinstance(points, str) and points != str(plain_points(question.points)):
        notes.append(
            f"the file says {counted(clean_line(points), 'point')} for question {question.number}; "
            f"the stored quiz counts: {plain_points(question.points)}"
        )
    stem = claim.get("stem")
    if isinstance(stem, str) and stem.split() != question.variant.stem.plain.split():
        notes.append(f"the stem of question {question.number} was changed in the file; the stored one counts")
    return tuple(notes)


def total(reports: Iterable[GradeReport]) -> tuple[float | None, float]:
    """Return (score, maximum); the score is None when any question is ungraded."""
    listed = list(reports)
    maximum = sum(report.max_score for report in listed)
    if any(report.score is None for report in listed):
        return None, maximum
    return sum(report.score for report in listed if report.score is not None), maximum
