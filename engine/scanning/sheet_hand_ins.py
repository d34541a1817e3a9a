"""Answer sheets handed in: the same grading, credit and store as for answers that were typed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engine.errors import QuizError
from engine.hand_ins import FilledQuiz
from engine.model import Mode, Quiz
from engine.quiz.hand_in import hand_in
from engine.scanning.exam_scans import CopyQuizzes, ScannedCopy
from engine.store import ArrivalInfo, Store
from engine.text.words import plain_points


@dataclass(frozen=True, slots=True)
class HandedSheet:
    """What became of one copy: handed in now, before, or why not."""

    copy: ScannedCopy
    was_handed: bool = False
    is_new: bool = False
    reason: str | None = None
    score: str = ""


def hand_in_sheet(
    store: Store,
    quizzes: CopyQuizzes,
    scanned: ScannedCopy,
    *,
    mode: Mode,
    now: datetime,
    written: datetime | None,
) -> HandedSheet:
    """Grade and record a copy that is ready, unless it was handed in before: a second run changes nothing.

    Parameters
    ----------
    store : Store
    quizzes : CopyQuizzes
    scanned : ScannedCopy
    mode : Mode
    now : datetime
    written : datetime or None
        When the exam was written. Otherwise it counts as handed in now, and in time where the quiz has a
        deadline: paper is handed in in the room.
    """
    assert scanned.student is not None, "a copy of nobody isn't ready"
    quiz = quizzes.quiz(scanned.copy, scanned.student)
    if quiz is None:
        # The quiz of a spare copy is stored for its student once nothing but its fields is open.
        if scanned.copy.is_spare and scanned.waits:
            return HandedSheet(scanned)
        return HandedSheet(scanned, reason="its quiz isn't in the store: was another store used to print it?")
    if is_handed_in(store, quiz, mode):
        return HandedSheet(scanned, was_handed=True)
    if not scanned.is_ready:
        return HandedSheet(scanned, reason=None)
    answers = scanned.answers()
    known = {question.number: {part.id for part in question.variant.parts} for question in quiz.questions}
    odd = [number for number, parts in answers.items() if not set(parts) <= known.get(number, set())]
    if odd:
        return HandedSheet(scanned, reason=f"its quiz has no question {odd[0]} as it was printed")
    deadline = quiz.rules.deadline
    moment = written or (min(now, deadline) if deadline is not None else now)
    filled = FilledQuiz(quiz.id, answers, {}, {}, frozenset(answers))
    try:
        result = hand_in(
            store,
            quiz,
            filled,
            mode=mode,
            started=now,
            filename=f"copy {scanned.copy.number} on paper",
            arrival=ArrivalInfo(handed=moment),
        )
    except QuizError as error:
        return HandedSheet(scanned, reason=error.what)
    if not result.recorded:
        return HandedSheet(scanned, reason="an answer on it can't be read")
    scores = [report.score for report in result.reports]
    earned = [score for score in scores if score is not None]
    most = sum(report.max_score for report in result.reports)
    open_count = len(scores) - len(earned)
    score = f"{plain_points(sum(earned))} of {plain_points(most)}"
    return HandedSheet(
        scanned, is_new=True, score=f"{score}, {open_count} to be marked" if open_count else score
    )


def is_handed_in(store: Store, quiz: Quiz, mode: Mode) -> bool:
    """Return whether answers to a student's quiz are recorded."""
    attempts = store.attempts(student=quiz.student, quiz=quiz.id, mode=mode)
    return next(iter(attempts), None) is not None
