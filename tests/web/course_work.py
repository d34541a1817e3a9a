"""Work of the small class on the site: a quiz of two questions, and attempts as the commands store them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from engine.answers import right_response
from engine.grading import grade_answers
from engine.model import CodeSubmission, GradeReport, Mode, Outcome, Quiz, Response
from engine.quiz import compose, read_blueprint
from engine.quiz.rules import now
from engine.store import Attempt
from engine.web.site import Site

BLUEPRINT = """\
title: Week 1
sections:
  - items: [softmax-ratio, alignment-read]
"""
QUIZ = "week-1"
COLUMNS = ("week-1/softmax-ratio", "week-1/alignment-read")


def quiz_of(quizzes: list[Quiz], student: str) -> Quiz:
    return next(quiz for quiz in quizzes if quiz.student == student)


def write_blueprint(folder: Path, text: str = BLUEPRINT, name: str = QUIZ) -> Path:
    path = folder / "blueprints" / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def draw_quiz(site: Site, students: tuple[str, ...] = ("ada", "bob")) -> dict[str, Quiz]:
    """Draw the quiz and store it; quizzes by student."""
    plan = read_blueprint(write_blueprint(site.folder))
    quizzes = compose(plan, site.bank, students, secret=site.course.secret(), name=QUIZ)
    site.store.save_quizzes(quizzes)
    return {quiz.student: quiz for quiz in quizzes}


def hand_in(site: Site, quiz: Quiz, *, right: int = 2) -> None:
    """Hand in a quiz of which so many questions, from the first, are right and the others wrong."""
    answers = {}
    for question in quiz.questions:
        key = {part.id: right_response(part) for part in question.variant.parts}
        wrong = {
            part.id: ", ".join(["0.123"] * max(1, key[part.id].count(",") + 1))
            for part in question.variant.parts
        }
        answers[question.number] = key if question.number <= right else wrong
    reports = [
        grade_answers(q.variant, Response(answers[q.number]), mode=Mode.MARKS, student=quiz.student)
        for q in quiz.questions
    ]
    site.store.record_quiz(quiz, answers, reports)


EXERCISE = "softmax"


def hand_in_code(
    site: Site,
    student: str,
    source: str,
    *,
    score: float | None = 0.0,
    filename: str = "softmax.py",
    reason: str = "a test",
    outcome: Outcome | None = None,
) -> str:
    """Store an attempt at a code exercise as if graded (None: not yet); return its receipt.

    With an outcome that has no score, such as what can't be read, `score` isn't looked at.
    """
    full = site.bank.code_points(EXERCISE)
    assert full is not None
    submission = CodeSubmission(source, filename, hashlib.sha256(source.encode()).hexdigest())
    if outcome is None:
        outcome = Outcome.UNGRADED if score is None else Outcome.RIGHT if score == full else Outcome.WRONG
    elif outcome is Outcome.FORMAT_ERROR:
        score = None
    report = GradeReport(
        EXERCISE, site.bank.version(EXERCISE), outcome, score, full, student=student, mode=Mode.MARKS
    )
    site.store.record(Attempt.of_code(student, submission, report, started=now(), reason=reason))
    return submission.sha256
