"""A filled-in quiz handed in: marked against the stored quiz, credited by its rules, recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from engine.errors import QuizError
from engine.model import GradeReport, Mode, Outcome, Quiz
from engine.quiz.credit import Credit
from engine.quiz.marking import grade_quiz
from engine.quiz.returned import FilledQuiz
from engine.store import Arrival, Store

__all__ = ["HandedIn", "as_answered", "hand_in"]


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What came of it.

    Parameters
    ----------
    quiz : Quiz
        With the variants that the file answers.
    reports : tuple of GradeReport
        One per question of `quiz`, as they count.
    recorded : bool
        False where an answer can't be read: nothing was kept then.
    """

    quiz: Quiz
    reports: tuple[GradeReport, ...]
    recorded: bool


def as_answered(
    store: Store, quiz: Quiz, retries: Mapping[int, int], asked: frozenset[int] | None = None
) -> Quiz:
    """Return the quiz with the variants that a file answers, and of its questions those `asked`.

    Raises
    ------
    QuizError
        The file names a variant that was never drawn.
    """
    if asked is not None:
        quiz = replace(quiz, questions=tuple(q for q in quiz.questions if q.number in asked))
    if not any(retries.values()):
        return quiz
    questions = []
    for question in quiz.questions:
        retry = retries.get(question.number, 0)
        if retry:
            variants = store.sittings.variants(quiz, question.number)
            if retry >= len(variants):
                raise QuizError(
                    f"question {question.number} says `retry: {retry}`, but no such variant was drawn",
                    expected=f"0 to {len(variants) - 1}",
                    next_step="put the line back as it was in your file",
                )
            question = replace(question, variant=variants[retry], retry=retry)
        questions.append(question)
    return replace(quiz, questions=tuple(questions))


def hand_in(
    store: Store,
    quiz: Quiz,
    filled: FilledQuiz,
    *,
    mode: Mode,
    started: datetime | None = None,
    filename: str = "",
    keep_unreadable: bool = False,
    arrival: Arrival | None = None,
) -> HandedIn:
    """Mark a filled-in file, credit it by the quiz's rules and record every question.

    Parameters
    ----------
    store : Store
    quiz : Quiz
        As stored.
    filled : FilledQuiz
    mode : Mode
        Practice and marks have attempts and hints of their own.
    started : datetime, optional
    filename : str
        Name of the file handed in.
    keep_unreadable : bool
        Record the file even if an answer can't be read (a batch does: it can't ask again).
    arrival : Arrival, optional
        How the file was handed in.

    Raises
    ------
    QuizError
        As :func:`engine.quiz.grade_quiz` and :func:`as_answered`.
    StoreError
        It can't be recorded.
    """
    answered = as_answered(store, quiz, filled.retries, filled.asked)
    reports = tuple(grade_quiz(filled, answered, mode=mode))
    unreadable = any(report.outcome is Outcome.FORMAT_ERROR for report in reports)
    if unreadable and not keep_unreadable:
        return HandedIn(answered, reports, recorded=False)
    settle = Credit(quiz, store.sittings.hints(quiz, mode)) if quiz.rules.counts_attempts else None
    kept = store.record_quiz(
        answered,
        filled.answers,
        reports,
        started=started,
        filename=filename,
        settle=settle,
        arrival=arrival,
    )
    return HandedIn(
        answered,
        tuple(
            # What was graded once stays graded; what the file claims is told each time.
            replace(attempt.report, notes=tuple(dict.fromkeys((*attempt.report.notes, *report.notes))))
            for attempt, report in zip(kept, reports, strict=True)
        ),
        recorded=True,
    )
