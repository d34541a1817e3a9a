"""First attempts, from the store: what each student did at an item before anybody told them anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from engine.itemreport.reading import work_of
from engine.itemreport.work import Kind, Test, Work
from engine.model import Mode, Outcome, Quiz
from engine.store import Attempt, Store

__all__ = ["Collected", "Missing", "collect"]


@dataclass(slots=True)
class Missing:
    """Students who tried an item and have no figure at it.

    Parameters
    ----------
    ungraded : int
        The first attempt waits for its mark.
    unreadable : int
        Nothing that they handed in could be read.
    blank : int
        The whole quiz came back blank.
    """

    ungraded: int = 0
    unreadable: int = 0
    blank: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.ungraded + self.unreadable + self.blank


@dataclass(frozen=True, slots=True)
class Collected:
    """First attempts by test, and what is missing by (test, item).

    Parameters
    ----------
    works : mapping of Test to list of Work
        Each student at most once at an item.
    missing : mapping of (Test, str) to Missing
    later : int
        Attempts that came after a first one and aren't looked at.
    """

    works: Mapping[Test, list[Work]]
    missing: Mapping[tuple[Test, str], Missing]
    later: int


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is needed of one student's quiz; with its keys, those of a class would fill the memory."""

    name: str
    numbers: Mapping[str, int]

    @classmethod
    def of(cls, quiz: Quiz | None) -> _Asked | None:
        if quiz is None:
            return None
        return cls(quiz.name, {question.variant.item: question.number for question in quiz.questions})


@dataclass(slots=True)
class _Tries:
    """All that one student handed in at one item."""

    real: list[tuple[tuple[datetime, int, int], Work]] = field(default_factory=list)
    blank: Work | None = None
    unreadable: int = 0

    def add(self, order: tuple[datetime, int, int], attempt: Attempt, work: Work) -> None:
        if attempt.report.outcome is Outcome.FORMAT_ERROR:
            self.unreadable += 1  # nothing was marked and no attempt was used
        elif attempt.is_blank:
            self.blank = self.blank or work
        else:
            self.real.append((order, work))

    @property
    def is_something(self) -> bool:
        return bool(self.real) or self.unreadable > 0


def collect(
    store: Store,
    mode: Mode,
    *,
    title_of: Callable[[str], str],
    wanted: Callable[[Test], bool] = lambda test: True,
) -> Collected:
    """Return the first attempts of everybody.

    First by when it was handed in, or graded where that isn't known, then by its number. What couldn't be
    read is no attempt, and an answer left blank is one only where nothing else was answered there. An
    attempt that waits for its mark stays the first: a later one isn't taken in its place.
    """
    asked: dict[tuple[str, str], _Asked | None] = {}
    tries: dict[tuple[Test, str, str], _Tries] = {}
    seen = 0
    for row, attempt in enumerate(store.attempts(mode=mode)):
        key = (attempt.quiz or "", attempt.student)
        if attempt.quiz is not None and key not in asked:
            asked[key] = _Asked.of(store.load_quiz(attempt.quiz, attempt.student))
        quiz = asked.get(key)
        test = _test_of(attempt, quiz)
        if not wanted(test):
            continue
        seen += 1
        title = attempt.variant.title if attempt.variant else title_of(attempt.item)
        order = (attempt.handed or attempt.started, attempt.sequence, row)
        own = tries.setdefault((test, attempt.student, attempt.item), _Tries())
        own.add(order, attempt, work_of(attempt, quiz.numbers.get(attempt.item, 0) if quiz else 0, title))
    return _first(tries, seen)


def _first(tries: Mapping[tuple[Test, str, str], _Tries], seen: int) -> Collected:
    # blank answers are given ones only in a quiz that was handed in with something in it
    answered = {(test, student) for (test, student, _), own in tries.items() if own.is_something}
    works: dict[Test, list[Work]] = {}
    missing: dict[tuple[Test, str], Missing] = {}
    for (test, student, item), own in tries.items():
        tally = missing.setdefault((test, item), Missing())
        works.setdefault(test, [])
        if own.real:
            work = min(own.real, key=lambda pair: pair[0])[1]
            if work.share is None:
                tally.ungraded += 1
            else:
                works[test].append(work)
        elif own.blank is not None and (test, student) in answered:
            works[test].append(own.blank)
        elif own.blank is not None:
            tally.blank += 1
        else:
            tally.unreadable += 1
    used = sum(len(found) for found in works.values()) + sum(tally.total for tally in missing.values())
    return Collected(works, missing, seen - used)


def _test_of(attempt: Attempt, quiz: _Asked | None) -> Test:
    if quiz is not None:
        return Test(Kind.QUIZ, quiz.name)
    return Test(Kind.CODE if attempt.variant is None else Kind.ANSWERS)
