"""Quizzes on the site under a course's rules: one student's quiz to answer, and sittings that are over.

What is saved on the site is handed in at the end of the time limit or the deadline, by the server or by
``grade quiz close``: a student who closes the browser loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from engine.course.policies import Policies
from engine.errors import EngineError, SoftmarkError, StoreError, internal_fault
from engine.items.bank import Bank
from engine.marks.late_work import StudentDeadlines, disclosure_now, extended_rules, terms_of
from engine.model import Mode, Quiz, QuizQuestion, ResultDisclosure
from engine.quiz.answer_sheet import DraftSheet
from engine.quiz.hand_in import HandInResult
from engine.quiz.in_progress import SiteQuiz, close_all
from engine.quiz.timing import NETWORK_GRACE, SittingTimes
from engine.store import Store
from engine.store.timed import TimedSitting

_TOGETHER = 25  # sittings are ended in one transaction: each waits for the disk


def extended_quiz(quiz: Quiz, policies: Policies) -> Quiz:
    """Return a quiz with its student's extension and extra time in its rules."""
    return replace(quiz, rules=extended_rules(quiz.rules, terms_of(policies, quiz.student, quiz.name)))


class CourseQuiz(SiteQuiz):
    """A quiz on the site under the rules of its course, which may keep results back until their release."""

    def __init__(self, store: Store, quiz: Quiz, terms: StudentDeadlines, **more: Any) -> None:
        super().__init__(
            store,
            replace(quiz, rules=extended_rules(quiz.rules, terms)),
            DraftSheet(store, quiz),
            opens=terms.opens,
            closes=terms.closes,
            **more,
        )
        self._terms = terms

    @property
    def disclosure(self) -> ResultDisclosure:
        """How much is shown now of the result as a whole."""
        return disclosure_now(self._terms, super().disclosure, self.shown_at)

    def disclosure_of(self, question: QuizQuestion) -> ResultDisclosure:
        """Return how much is shown now of the result of one question."""
        return disclosure_now(self._terms, super().disclosure_of(question), self.shown_at)


def site_quiz(
    store: Store,
    quiz: Quiz,
    policies: Policies,
    *,
    bank: Bank,
    mode: Mode,
    secret: Callable[[], bytes],
) -> CourseQuiz:
    """Return a student's quiz as the site has it answered.

    Parameters
    ----------
    store : Store
    quiz : Quiz
        As stored.
    policies : Policies
        The course's, with allowances.
    bank : Bank
    mode : Mode
    secret : callable
        Returns the course's secret.
    """
    terms = terms_of(policies, quiz.student, quiz.name)
    return CourseQuiz(store, quiz, terms, bank=bank, mode=mode, secret=secret)


def running_until(store: Store, policies: Policies, student: str, now: datetime) -> datetime | None:
    """Return the end of the last of a student's sittings that run now and end by more than a common date.

    That is by a time limit, or by an extension that this student has. None where there is none.
    """
    ends = []
    for sitting in store.timed.running(student):
        quiz = store.load_quiz(sitting.quiz_id, student)
        if quiz is None:
            continue
        terms = terms_of(policies, student, quiz.name)
        rules = extended_rules(quiz.rules, terms)
        end = SittingTimes.of(rules, opens=terms.opens, closes=terms.closes).ends_at(sitting.started)
        is_personal = rules.time_limit is not None or rules != quiz.rules or terms.extended is not None
        if is_personal and end is not None and end >= now:
            ends.append(end)
    return max(ends, default=None)


@dataclass(frozen=True, slots=True)
class OverdueSitting:
    """A sitting that is over, and whose answers aren't handed in."""

    quiz: Quiz
    sitting: TimedSitting
    end: datetime


def overdue_sittings(
    store: Store,
    policies: Policies,
    now: datetime,
    *,
    names: Collection[str] = (),
    among: Iterable[TimedSitting] | None = None,
) -> Iterator[OverdueSitting]:
    """Yield the sittings whose end and its grace have passed, and that weren't handed in.

    Parameters
    ----------
    store : Store
    policies : Policies
        The course's, with allowances: more time given since the beginning counts.
    now : datetime
    names : collection of str
        Only quizzes of these names; all if empty.
    among : iterable of TimedSitting, optional
        The sittings to look at; all that aren't handed in by default. Each costs reading its quiz.

    Raises
    ------
    StoreError
        A quiz can't be read; raised after all others.
    """
    unread: StoreError | None = None
    for sitting in store.timed.not_handed_in() if among is None else among:
        try:
            quiz = store.load_quiz(sitting.quiz_id, sitting.student)
        except StoreError as error:  # one that is damaged doesn't keep the others from their end
            unread = unread or error
            continue
        if quiz is None or (names and quiz.name not in names):
            continue
        terms = terms_of(policies, quiz.student, quiz.name)
        rules = extended_rules(quiz.rules, terms)
        end = SittingTimes.of(rules, opens=terms.opens, closes=terms.closes).ends_at(sitting.started)
        # One that its student has ended, and that wasn't handed in: the program was stopped in between.
        if sitting.ended_early or (end is not None and now > end + NETWORK_GRACE):
            yield OverdueSitting(quiz, sitting, sitting.ends if end is None else end)
    if unread is not None:
        raise unread


def hand_in_overdue(
    store: Store,
    policies: Policies,
    now: datetime,
    *,
    bank: Bank,
    mode: Mode,
    secret: Callable[[], bytes],
    names: Collection[str] = (),
    among: Iterable[TimedSitting] | None = None,
) -> Iterator[tuple[OverdueSitting, HandInResult | SoftmarkError]]:
    """Hand in what was saved in all sittings that are over, and yield what became of each.

    A fault of one, also one of Softmark, is yielded and doesn't keep the others waiting; it is tried again
    the next time.

    Raises
    ------
    StoreError
        As :func:`overdue_sittings`.
    """
    overdue_ones: list[OverdueSitting] = []
    unread: StoreError | None = None
    try:
        for overdue in overdue_sittings(store, policies, now, names=names, among=among):
            overdue_ones.append(overdue)
    except StoreError as error:  # raised after all others
        unread = error
    group: list[OverdueSitting] = []
    # Of a quiz that was drawn several times, what answers the newest draw uses an attempt first.
    for overdue in sorted(overdue_ones, key=lambda overdue: -overdue.quiz.attempt):
        if group and (len(group) == _TOGETHER or group[0].quiz.attempt != overdue.quiz.attempt):
            yield from _close(store, policies, group, bank=bank, mode=mode, secret=secret)
            group = []
        if not _is_newer_draw_open(store, overdue.quiz, mode):
            group.append(overdue)
    yield from _close(store, policies, group, bank=bank, mode=mode, secret=secret)
    if unread is not None:
        raise unread


def _close(
    store: Store,
    policies: Policies,
    group: Sequence[OverdueSitting],
    *,
    bank: Bank,
    mode: Mode,
    secret: Callable[[], bytes],
) -> Iterator[tuple[OverdueSitting, HandInResult | SoftmarkError]]:
    opened: list[tuple[OverdueSitting, SiteQuiz]] = []
    for overdue in group:
        try:
            quiz = site_quiz(store, overdue.quiz, policies, bank=bank, mode=mode, secret=secret)
        except SoftmarkError as error:
            yield overdue, error
        else:
            opened.append((overdue, quiz))
    results: Sequence[HandInResult | Exception]
    try:
        results = close_all(store, [quiz for _, quiz in opened])
    except SoftmarkError as error:  # the store is away: all of them are tried again
        results = [error] * len(opened)
    for (overdue, _), result in zip(opened, results, strict=True):
        if isinstance(result, HandInResult | SoftmarkError):
            yield overdue, result
        else:
            yield overdue, EngineError(internal_fault(result))


def _is_newer_draw_open(store: Store, quiz: Quiz, mode: Mode) -> bool:
    """Return whether a student is answering a later draw of a quiz that counts as the same one."""
    if len(store.sittings.ids_alike(quiz, mode)) < 2:
        return False
    newer = [other for other in store.quizzes(quiz.name, quiz.student) if other.attempt > quiz.attempt]
    sittings = [store.timed.of_quiz(other) for other in newer]
    return any(sitting is not None and sitting.handed is None for sitting in sittings)
