"""What one student has to do in a course: the published quizzes and the code exercises, open, done or closed.

It says nothing about results: whether something was handed in, and never whether it was right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from engine.course.policies import Policies
from engine.items.bank import Bank
from engine.marks.late_work import StudentDeadlines, extended_rules, local_time, terms_of
from engine.model import Mode, Quiz
from engine.quiz.timing import SittingState, SittingTimes
from engine.store import Store


class AssignmentState(StrEnum):
    """Where a student is with an assignment."""

    NOT_YET = "not yet open"
    OPEN = "open"
    LATE = "late"  # open, and the due date has passed
    DONE = "done"  # all of it is handed in
    CLOSED = "closed"
    EXCUSED = "excused"


@dataclass(frozen=True, slots=True)
class AssignmentStatus:
    """One assignment of one student.

    Parameters
    ----------
    name : str
        A quiz's name or an exercise's item id.
    title : str
    points : float
    state : AssignmentState
    is_open : bool
        Whether work is taken now: also of what is done, as far as another attempt is possible.
    terms : StudentDeadlines
        The course's rules for this student: opens, due, closes, extension, excuse, extra time.
    ends : datetime or None
        The last moment at which work is taken: of a running sitting its end.
    quiz : Quiz or None
        The student's newest draw; None for code.
    time_limit : float or None
        Minutes, with the student's extra time.
    is_running : bool
        Whether a sitting with a time limit has begun and isn't over.
    handed_in, questions : int
        How many questions were handed in, of how many; code is one.
    """

    name: str
    title: str
    points: float
    state: AssignmentState
    is_open: bool
    terms: StudentDeadlines
    ends: datetime | None = None
    quiz: Quiz | None = field(default=None, repr=False)
    time_limit: float | None = None
    is_running: bool = False
    handed_in: int = 0
    questions: int = 1

    @property
    def is_quiz(self) -> bool:
        """Whether it is a quiz, and no code exercise."""
        return self.quiz is not None


def assignments_of(
    student: str, store: Store, policies: Policies, bank: Bank, *, mode: Mode, now: datetime
) -> list[AssignmentStatus]:
    """Return what a student has to do, by the moment at which it ends, then by name.

    Parameters
    ----------
    student : str
    store : Store
    policies : Policies
        The course's, with allowances.
    bank : Bank
    mode : Mode
    now : datetime

    Returns
    -------
    list of AssignmentStatus
        The published quizzes that were drawn for the student; the code exercises that the course's rules
        name, that come with one of these quizzes once it is open, to which a learning system links, or for
        which the student has handed something in.
    """
    handed = store.sittings.handed_in(student, mode)
    quizzes = _published(student, store)
    entries = [_quiz_status(quiz, store, policies, handed, mode, now) for quiz in quizzes.values()]
    linked = {link.assignment for link in store.lti.links() if link.assignment is not None}
    entries += _code_statuses(student, quizzes.values(), policies, bank, handed, linked, now)
    return sorted(entries, key=lambda entry: (_end(entry) is None, _end(entry) or now, entry.name))


def exercises_of_quizzes(student: str, store: Store, policies: Policies, now: datetime) -> set[str]:
    """Return the code exercises that come with quizzes of a student which are published and open, or were.

    Before that, they may be part of an exam that nobody has seen.
    """
    return _exercises(student, _published(student, store).values(), policies, now)


def _published(student: str, store: Store) -> dict[str, Quiz]:
    published = store.published.all()
    return {quiz.name: quiz for quiz in store.quizzes(student=student) if quiz.name in published}


def _exercises(student: str, quizzes: Collection[Quiz], policies: Policies, now: datetime) -> set[str]:
    open_by_now = [
        quiz
        for quiz in quizzes
        if (opens := terms_of(policies, student, quiz.name).opens) is None or opens <= now
    ]
    return {exercise.item for quiz in open_by_now for exercise in quiz.exercises}


def _end(entry: AssignmentStatus) -> datetime | None:
    moments = [moment for moment in (entry.terms.due, entry.ends) if moment is not None]
    return min(moments, default=None)


def _quiz_status(
    quiz: Quiz,
    store: Store,
    policies: Policies,
    handed: Mapping[str | None, Collection[str]],
    mode: Mode,
    now: datetime,
) -> AssignmentStatus:
    terms = terms_of(policies, quiz.student, quiz.name)
    rules = extended_rules(quiz.rules, terms)
    if rules.deadline is not None and rules.deadline != quiz.rules.deadline and terms.extended is None:
        # The quiz's own deadline is moved where the course has no due date.
        terms = replace(terms, extended=local_time(rules.deadline, terms.zone))
    times = SittingTimes.of(rules, opens=terms.opens, closes=terms.closes)
    sitting = store.timed.of_quiz(quiz)
    state = times.state(sitting, now)
    ids = store.sittings.ids_alike(quiz, mode)
    items = {item for quiz_id in ids for item in handed.get(quiz_id, ())}
    count = sum(question.variant.item in items for question in quiz.questions)
    return AssignmentStatus(
        quiz.name,
        quiz.title,
        sum(question.points for question in quiz.questions),
        _state(terms, state, now, is_done=count == len(quiz.questions), has_work=count > 0),
        state in (SittingState.OPEN, SittingState.READY) and not terms.is_excused,
        terms,
        times.ends_at(sitting.started if sitting else None),
        quiz,
        rules.time_limit,
        times.limit is not None and sitting is not None and state is SittingState.OPEN,
        count,
        len(quiz.questions),
    )


def _code_statuses(
    student: str,
    quizzes: Collection[Quiz],
    policies: Policies,
    bank: Bank,
    handed: Mapping[str | None, Collection[str]],
    linked: Collection[str],
    now: datetime,
) -> Iterator[AssignmentStatus]:
    code = set(bank.code_ids())
    names = {name for name in policies.named if name in code}
    names |= _exercises(student, quizzes, policies, now) & code
    names |= {item for item in (*handed.get(None, ()), *linked) if item in code}
    for name in sorted(names):
        terms = terms_of(policies, student, name)
        times = SittingTimes(terms.opens, terms.closes)
        state = times.state(None, now)
        done = name in handed.get(None, ())
        yield AssignmentStatus(
            name,
            bank.title_of(name),
            bank.code_points(name) or 0.0,
            _state(terms, state, now, is_done=done, has_work=done),
            state is SittingState.OPEN and not terms.is_excused,
            terms,
            terms.closes,
            handed_in=int(done),
        )


def _state(
    terms: StudentDeadlines, state: SittingState, now: datetime, *, is_done: bool, has_work: bool
) -> AssignmentState:
    if terms.is_excused:
        return AssignmentState.EXCUSED
    if is_done or (has_work and state is SittingState.OVER):
        return AssignmentState.DONE
    if state is SittingState.OVER:
        return AssignmentState.CLOSED
    if state is SittingState.NOT_YET:
        return AssignmentState.NOT_YET
    return AssignmentState.LATE if terms.is_due(now) else AssignmentState.OPEN
