"""A filled-in quiz handed in: marked against the stored quiz, credited by its rules, recorded.

The file is the student's to edit, so only its answers are read; points, stems and keys are those of the
stored quiz, and where the file claims something else a note says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from engine.errors import QuizError
from engine.grading import grade_answers
from engine.hand_ins import FilledQuiz
from engine.model import GradeReport, Mode, Outcome, Quiz, QuizQuestion, Response
from engine.quiz.rules import AttemptLimit, CreditRules
from engine.store import ArrivalInfo, Store
from engine.text.words import clean_line, count_noun, plain_points


def grade_quiz(filled: FilledQuiz, quiz: Quiz, *, mode: Mode, can_change: bool = False) -> list[GradeReport]:
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
    can_change : bool
        Whether the file can still be changed, as in :func:`engine.grading.grade_answers`.

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
            Response(
                {k: v for k, v in answers.items() if k in ids}, filled.on_paper.get(question.number, {})
            ),
            mode=mode,
            student=quiz.student,
            can_change=can_change,
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
            f"the file says {count_noun(clean_line(points), 'point')} for question {question.number}; "
            f"the stored quiz counts: {plain_points(question.points)}"
        )
    stem = claim.get("stem")
    # Without any blanks: the file has lines that end inside a word with a hyphen.
    if isinstance(stem, str) and "".join(stem.split()) != "".join(question.variant.stem.plain.split()):
        notes.append(f"the stem of question {question.number} was changed in the file; the stored one counts")
    return tuple(notes)


def total(reports: Iterable[GradeReport]) -> tuple[float | None, float]:
    """Return (score, maximum); the score is None when any question is ungraded."""
    scores = [(report.score, report.max_score) for report in reports]
    maximum = sum(points for _, points in scores)
    if any(score is None for score, _ in scores):
        return None, maximum
    return sum(score for score, _ in scores if score is not None), maximum


@dataclass(frozen=True, slots=True)
class HandInResult:
    """Result of handing in a quiz.

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

    @property
    def is_unreadable(self) -> bool:
        """Whether an answer can't be read."""
        return any(report.outcome is Outcome.FORMAT_ERROR for report in self.reports)


def as_answered(
    store: Store, quiz: Quiz, retries: Mapping[int, int], numbers: frozenset[int] | None = None
) -> Quiz:
    """Return the quiz with the variants that a file answers, and only with the questions in `numbers`.

    Raises
    ------
    QuizError
        The file names a variant that was never drawn.
    """
    if numbers is not None:
        quiz = replace(quiz, questions=tuple(q for q in quiz.questions if q.number in numbers))
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


def read_answers(
    store: Store, quiz: Quiz, filled: FilledQuiz, *, mode: Mode, can_change: bool = True
) -> HandInResult:
    """Mark a filled-in file without recording anything; `can_change` is as in :func:`grade_quiz`.

    Raises
    ------
    QuizError
        As :func:`engine.quiz.grade_quiz` and :func:`as_answered`.
    """
    answered = as_answered(store, quiz, filled.retries, filled.questions)
    reports = grade_quiz(filled, answered, mode=mode, can_change=can_change)
    return HandInResult(answered, tuple(reports), recorded=False)


def hand_in(
    store: Store,
    quiz: Quiz,
    filled: FilledQuiz,
    *,
    mode: Mode,
    started: datetime | None = None,
    filename: str = "",
    keep_unreadable: bool = False,
    arrival: ArrivalInfo | None = None,
    is_limited: bool = False,
) -> HandInResult:
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
        Record the file even if an answer can't be read or is too long (a batch does: it can't ask again).
    arrival : ArrivalInfo, optional
        How the file was handed in.
    is_limited : bool
        Take nothing of which no attempt is left, instead of storing what it earns.

    Raises
    ------
    QuizError
        As :func:`engine.quiz.grade_quiz` and :func:`as_answered`; or no attempt is left.
    StoreError
        It can't be recorded.
    """
    read = read_answers(store, quiz, filled, mode=mode, can_change=not keep_unreadable)
    # All or nothing: a file with an answer that can't be read is handed in again, and the attempts at its
    # other questions must not be used up by then.
    if read.is_unreadable and not keep_unreadable:
        return read
    answered, reports = read.quiz, read.reports
    settle: CreditRules | AttemptLimit | None = None
    settle = CreditRules(quiz, store.sittings.hints(quiz, mode)) if quiz.rules.counts_attempts else None
    if is_limited:
        settle = AttemptLimit(quiz, settle)
    recorded = store.record_quiz(
        answered,
        filled.answers,
        reports,
        started=started,
        filename=filename,
        settle=settle,
        arrival=arrival,
        on_paper=filled.on_paper,
    )
    return HandInResult(
        answered,
        tuple(
            # What was graded once stays graded; what the file claims is mentioned each time.
            replace(attempt.report, notes=tuple(dict.fromkeys((*attempt.report.notes, *report.notes))))
            for attempt, report in zip(recorded, reports, strict=True)
        ),
        recorded=True,
    )
