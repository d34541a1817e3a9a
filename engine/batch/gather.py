"""From the store to results by student: the best attempt of each column counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from engine.batch.columns import column_of
from engine.course import Column, Intake, IntakeProblem, ItemResult, Roster, StudentResults
from engine.model import Mode, Outcome, Quiz
from engine.quiz import clock
from engine.quiz.credit import counted
from engine.rules import Shown
from engine.store import Attempt, Store

__all__ = ["class_results"]


def class_results(
    store: Store,
    *,
    mode: Mode,
    title_of: Callable[[str], str],
    roster: Roster | None = None,
    intake: Intake | None = None,
    problems: Sequence[IntakeProblem] = (),
) -> Iterator[StudentResults]:
    """Yield the results of everybody in the roster and in the collection, by id.

    One student is in memory at a time.

    Parameters
    ----------
    store : Store
    mode : Mode
        Only attempts of this mode are seen.
    title_of : callable
        Item id → title.
    roster : Roster, optional
    intake : Intake, optional
        Without roster and collection everybody in the store is listed.
    problems : sequence of IntakeProblem
        Of the whole run; each student gets those of their own.
    """
    names = {student.id: student.name for student in roster.students} if roster else {}
    students = set(names) | {files.student for files in intake.students if intake} if intake else set(names)
    students |= {problem.student for problem in problems if problem.student}
    if not names and intake is None:
        students = set(store.students(mode))
    for student in sorted(students):
        quizzes: dict[str, Quiz | None] = {}
        columns: dict[Column, list[Attempt]] = {}
        for attempt in store.attempts(student=student, mode=mode):
            if attempt.quiz is not None and attempt.quiz not in quizzes:
                quizzes[attempt.quiz] = store.load_quiz(attempt.quiz, student)
            column = column_of(attempt, quizzes.get(attempt.quiz or ""), title_of)
            columns.setdefault(column, []).append(attempt)
        yield StudentResults(
            student=student,
            name=names.get(student, ""),
            items=tuple(_result(column, found, quizzes) for column, found in sorted(columns.items())),
            problems=tuple(problem for problem in problems if problem.student == student),
            listed=not names or student in names,
        )


def _result(column: Column, attempts: list[Attempt], quizzes: Mapping[str, Quiz | None]) -> ItemResult:
    chosen = _counting(attempts)
    quiz = quizzes.get(chosen.quiz or "")
    now = clock.now()
    made = counted(attempts)
    is_right = any(attempt.report.outcome is Outcome.RIGHT for attempt in made)
    return ItemResult(
        column=column,
        report=chosen.report,
        submission=chosen.submission,
        graded=chosen.finished,
        variant=chosen.variant,
        answers=dict(chosen.response.answers) if chosen.response else {},
        filename=chosen.filename,
        attempts=max(1, sum(not attempt.is_blank for attempt in attempts)),
        reason=chosen.reason,
        shown=quiz.rules.shown(now) if quiz else Shown.FEEDBACK,
        is_final=quiz is None
        or quiz.rules.is_over(now)
        or is_right
        or len(made) >= (quiz.rules.attempts or 1),
    )


def _counting(attempts: list[Attempt]) -> Attempt:
    """Return the attempt that counts: the best, unless an ungraded one could still beat it."""
    settled = [attempt for attempt in attempts if attempt.settled]
    best = max(settled, key=lambda attempt: attempt.report.score or 0.0) if settled else None
    waiting = [attempt for attempt in attempts if attempt.report.outcome is Outcome.UNGRADED]
    if waiting and (best is None or (best.report.score or 0.0) < best.report.max_score):
        return waiting[-1]
    return best or attempts[-1]
