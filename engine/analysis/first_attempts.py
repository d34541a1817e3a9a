"""First attempts, from the store: what each student did at an item before getting any feedback.

Later attempts measure what feedback and hints have taught, so they say nothing about the item itself. Each
attempt is reduced to what the figures need as soon as it is read: a class's variants and reports together
would fill the memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import numpy as np

from engine.analysis.statistics import ScoreMatrix
from engine.analysis.statistics.score_matrix import Floats
from engine.answers import answer_type, kind_of
from engine.errors import ResponseFormatError
from engine.model import Check, DrawnValue, Mode, Outcome, Part, Quiz, Variant
from engine.store import Attempt, Store
from engine.text.words import clean_line


class ItemTestKind(StrEnum):
    """Which items are a test together: a quiz, all code exercises, or all answers outside any quiz."""

    QUIZ = "quiz"
    ANSWERS = "answers"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class ItemTest:
    """Items whose points are compared with each other; ``name`` is the quiz's, empty elsewhere."""

    __test__ = False  # pytest would collect it by its name

    kind: ItemTestKind
    name: str = ""

    @property
    def id(self) -> str:
        """``quiz:NAME``, ``answers`` or ``code``."""
        return f"{self.kind}:{self.name}" if self.name else str(self.kind)

    @property
    def place(self) -> tuple[int, str]:
        """The sort key of tests: quizzes by name, then the others."""
        return list(ItemTestKind).index(self.kind), self.name


@dataclass(frozen=True, slots=True)
class OptionSeen:
    """An option as one student saw it, identified by what is behind it and not by its letter."""

    text: str
    correct: bool
    misconception: str


@dataclass(frozen=True, slots=True)
class OptionChosen:
    """The options offered in one choice part, and the positions of those that a student chose."""

    part: str
    offered: tuple[OptionSeen, ...]
    chosen: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PartWork:
    """Points of one answer field or criterion of a rubric, before any rule on credit, and their share."""

    id: str
    share: float
    points: float


@dataclass(frozen=True, slots=True)
class ItemAttempt:
    """One attempt of one student at one item.

    Parameters
    ----------
    student, item, title : str
    number : int
        Of the question in the student's quiz; 0 elsewhere.
    share : float or None
        Of the full marks, 0 to 1; None without a score.
    full : float
        Full marks.
    is_blank : bool
    parts : tuple of PartWork
    checks : tuple of Check
        Of code.
    diagnoses : mapping of str to str
        Known mistakes that showed, each with the message that the student got.
    possible : frozenset of str
        Known mistakes that this variant declares.
    variant : str
        The drawn values in words; empty where nothing is drawn.
    numbers : mapping of str to float
        Drawn numbers by name; of an array the largest absolute entry.
    choices : tuple of OptionChosen
    """

    student: str
    item: str
    title: str
    number: int
    share: float | None
    full: float
    is_blank: bool
    parts: tuple[PartWork, ...] = ()
    checks: tuple[Check, ...] = ()
    diagnoses: Mapping[str, str] = field(default_factory=dict)
    possible: frozenset[str] = frozenset()
    variant: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)
    choices: tuple[OptionChosen, ...] = ()


_LONGEST_LABEL = 120  # of an option in a table: its beginning tells it from the others
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def work_of(attempt: Attempt, number: int, title: str) -> ItemAttempt:
    """Return what the figures need of an attempt.

    Points are those of the answer itself: what a quiz's rules deduct for hints or late attempts says nothing
    about the item.
    """
    report, variant = attempt.report, attempt.variant
    texts = attempt.response.answers if attempt.response else {}
    graded = attempt.settled and variant is not None
    parts = variant.parts if variant is not None else ()
    diagnoses = {
        diagnosis.misconception: clean_line(diagnosis.message, 500) for diagnosis in report.diagnosis
    }
    return ItemAttempt(
        student=attempt.student,
        item=attempt.item,
        title=title,
        number=number,
        share=_share(attempt),
        full=report.max_score,
        is_blank=attempt.is_blank,
        parts=tuple(_part_works(parts, report.checks)) if graded else (),
        checks=report.checks if variant is None else (),
        diagnoses=diagnoses,
        possible=frozenset() if variant is None else _possible_mistakes(variant),
        variant=_in_words(variant.values) if variant is not None else "",
        numbers=_numbers(variant.values) if variant is not None else {},
        choices=tuple(
            _choice_of(part, texts.get(part.id, "")) for part in parts if kind_of(part.type).picks_options
        )
        if graded
        else (),
    )


def _share(attempt: Attempt) -> float | None:
    report = attempt.report
    if not attempt.settled or report.score is None or report.max_score <= 0:
        return None
    # with a credit rule the score is what is left of it; the checks still have the answer's own points
    earned = report.score if report.credit == 1 else sum(check.points for check in report.checks)
    return min(1.0, max(0.0, earned / report.max_score))


def _part_works(parts: Sequence[Part], checks: Sequence[Check]) -> Iterator[PartWork]:
    """Yield the answer fields of an item with several, each followed by the criteria of its rubric."""
    for part in parts:
        # An answer in words has a check for each criterion of its rubric, named after both.
        criteria = [check for check in checks if check.id.startswith(f"{part.id}.")]
        if len(parts) > 1:
            of_part = [check for check in checks if check.id == part.id]
            yield _part_work(part.id, part.points, [*of_part, *criteria])
        for check in criteria:
            yield _part_work(check.id, check.max_points, [check])


def _part_work(name: str, most: float, checks: Sequence[Check]) -> PartWork:
    share = sum(check.points for check in checks) / most if most else 0.0
    return PartWork(name, min(1.0, max(0.0, share)), most)


def _possible_mistakes(variant: Variant) -> frozenset[str]:
    options = (option.misconception for part in variant.parts for option in part.options)
    wrong = (wrong.misconception for part in variant.parts for wrong in part.known_wrong)
    return frozenset(name for name in (*options, *wrong) if name)


def _in_words(values: Mapping[str, DrawnValue]) -> str:
    return clean_line(", ".join(f"{name} = {_entries(value)}" for name, value in values.items()), 2000)


def _entries(value: DrawnValue) -> str:
    return value.entries[0] if value.shape == () and value.entries else f"[{' '.join(value.entries)}]"


def _numbers(values: Mapping[str, DrawnValue]) -> dict[str, float]:
    numbers_by_name = {}
    for name, value in values.items():
        if value.text or not all(_NUMBER.fullmatch(entry) for entry in value.entries):
            continue
        numbers = [float(entry) for entry in value.entries]
        if value.shape == () and numbers:
            numbers_by_name[name] = numbers[0]
        elif numbers:
            # one number for an array: large entries are what makes paper work hard
            numbers_by_name[f"largest |{name}|"] = max(abs(number) for number in numbers)
    return numbers_by_name


def _choice_of(part: Part, text: str) -> OptionChosen:
    offered = tuple(
        OptionSeen(clean_line(option.text.plain, _LONGEST_LABEL), option.correct, option.misconception or "")
        for option in part.options
    )
    return OptionChosen(part.id, offered, _chosen(part, text))


def _chosen(part: Part, text: str) -> tuple[int, ...]:
    if not text.strip():
        return ()
    try:
        answer = answer_type(part.type).parse(text, part)
    except ResponseFormatError:
        return ()
    if not isinstance(answer, str | frozenset):
        # a printed option that an erratum accepts counts as the right one
        return tuple(i for i, option in enumerate(part.options) if option.correct)
    ids = {answer} if isinstance(answer, str) else answer
    return tuple(i for i, option in enumerate(part.options) if option.id in ids)


@dataclass(slots=True)
class MissingFigures:
    """Students who tried an item and have no figure at it.

    Parameters
    ----------
    ungraded : int
        Whose first attempt waits for its mark.
    unreadable : int
        Who submitted nothing that can be read.
    blank : int
        Who left the whole quiz blank.
    """

    ungraded: int = 0
    unreadable: int = 0
    blank: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.ungraded + self.unreadable + self.blank


@dataclass(frozen=True, slots=True)
class FirstAttempts:
    """First attempts by test, and what is missing by (test, item).

    Parameters
    ----------
    works : mapping of ItemTest to list of ItemAttempt
        Each student at most once at an item.
    missing : mapping of (ItemTest, str) to MissingFigures
    later : int
        Attempts after a first one, which aren't counted.
    """

    works: Mapping[ItemTest, list[ItemAttempt]]
    missing: Mapping[tuple[ItemTest, str], MissingFigures]
    later: int


@dataclass(frozen=True, slots=True)
class _QuizNumbers:
    """The question numbers of one student's quiz, without its keys, which take most of the memory."""

    name: str
    numbers: Mapping[str, int]

    @classmethod
    def of(cls, quiz: Quiz | None) -> _QuizNumbers | None:
        if quiz is None:
            return None
        return cls(quiz.name, {question.variant.item: question.number for question in quiz.questions})


@dataclass(slots=True)
class _Submissions:
    real: list[tuple[tuple[datetime, int, int], ItemAttempt]] = field(default_factory=list)
    blank: ItemAttempt | None = None
    unreadable: int = 0

    def add(self, order: tuple[datetime, int, int], attempt: Attempt, work: ItemAttempt) -> None:
        if attempt.report.outcome is Outcome.FORMAT_ERROR:
            self.unreadable += 1  # it wasn't marked and used up no attempt
        elif attempt.is_blank:
            self.blank = self.blank or work
        else:
            self.real.append((order, work))


def collect(
    store: Store,
    mode: Mode,
    *,
    title_of: Callable[[str], str],
    is_chosen: Callable[[ItemTest], bool] = lambda test: True,
) -> FirstAttempts:
    """Return the first attempts of everybody.

    The first is the one submitted first, or graded first where that isn't known, then the one with the lowest
    number. A submission that can't be read isn't an attempt, and a blank answer is one only where the student
    submitted nothing else there. An attempt that waits for its mark stays the first.
    """
    quizzes: dict[tuple[str, str], _QuizNumbers | None] = {}
    tries: dict[tuple[ItemTest, str, str], _Submissions] = {}
    count = 0
    for row, attempt in enumerate(store.attempts(mode=mode)):
        key = (attempt.quiz or "", attempt.student)
        # a student's quiz is read once: it holds the numbers of the questions for all of their attempts
        if attempt.quiz is not None and key not in quizzes:
            quizzes[key] = _QuizNumbers.of(store.load_quiz(attempt.quiz, attempt.student))
        quiz = quizzes.get(key)
        test = _test_of(attempt, quiz)
        if not is_chosen(test):
            continue
        count += 1
        title = attempt.variant.title if attempt.variant else title_of(attempt.item)
        # the row breaks ties, so that equal times give the same report every time
        order = (attempt.handed or attempt.started, attempt.sequence, row)
        submissions = tries.setdefault((test, attempt.student, attempt.item), _Submissions())
        submissions.add(
            order, attempt, work_of(attempt, quiz.numbers.get(attempt.item, 0) if quiz else 0, title)
        )
    return _first(tries, count)


def _first(tries: Mapping[tuple[ItemTest, str, str], _Submissions], count: int) -> FirstAttempts:
    # a blank answer counts only in a quiz that was handed in with something in it
    answered = {(test, student) for (test, student, _), each in tries.items() if each.real or each.unreadable}
    works: dict[ItemTest, list[ItemAttempt]] = {}
    missing: dict[tuple[ItemTest, str], MissingFigures] = {}
    for (test, student, item), submissions in tries.items():
        tally = missing.setdefault((test, item), MissingFigures())
        works.setdefault(test, [])
        if submissions.real:
            work = min(submissions.real, key=lambda pair: pair[0])[1]
            if work.share is None:  # waits for its mark, and no later attempt takes its place
                tally.ungraded += 1
            else:
                works[test].append(work)
        elif submissions.blank is not None and (test, student) in answered:
            works[test].append(submissions.blank)
        elif submissions.blank is not None:
            tally.blank += 1
        else:
            tally.unreadable += 1
    used = sum(len(attempts) for attempts in works.values()) + sum(tally.total for tally in missing.values())
    return FirstAttempts(works, missing, count - used)


def _test_of(attempt: Attempt, quiz: _QuizNumbers | None) -> ItemTest:
    if quiz is not None:
        return ItemTest(ItemTestKind.QUIZ, quiz.name)
    return ItemTest(ItemTestKind.CODE if attempt.variant is None else ItemTestKind.ANSWERS)


@dataclass(frozen=True, slots=True, eq=False)
class ItemTestScores:
    """Points of one test.

    Parameters
    ----------
    students : tuple of str
        The rows of the matrix.
    matrix : ScoreMatrix
        A column for each item, with the sum of its parts.
    works : mapping of str to sequence of ItemAttempt
        By item, in the order of the rows.
    unscored : tuple of str
        Items without full marks, which have no figures.
    """

    students: tuple[str, ...]
    matrix: ScoreMatrix
    works: Mapping[str, Sequence[ItemAttempt]]
    unscored: tuple[str, ...]

    def others(self, item: str) -> Floats:
        """Return the scores on all other items of the students who had an item; NaN without any."""
        column = self.matrix.items.index(item)
        rest = [other for other in self.matrix.items if other != item]
        relative_scores = self.matrix.only(rest).relative_scores()
        return np.asarray(relative_scores[self.matrix.presented[:, column]])


def scores_of(works: Sequence[ItemAttempt]) -> ItemTestScores:
    """Return the matrix of first attempts, items in the order of the quiz and students by id."""
    number: dict[str, int] = {}
    full: dict[str, float] = {}
    for work in works:
        number[work.item] = min(number.get(work.item, work.number), work.number)
        full[work.item] = max(full.get(work.item, 0.0), work.full)  # an item may have been edited meanwhile
    # students may have an item at different numbers: its smallest decides, then its id
    order = sorted(number, key=lambda item: (number[item], item))
    items = [item for item in order if full[item] > 0]
    students = tuple(sorted({work.student for work in works}))
    row = {student: index for index, student in enumerate(students)}
    column = {item: index for index, item in enumerate(items)}
    points = np.full((len(students), len(items)), np.nan)
    by_item: dict[str, list[ItemAttempt]] = {item: [] for item in items}
    for work in sorted(works, key=lambda work: work.student):
        if work.item in column and work.share is not None:
            points[row[work.student], column[work.item]] = work.share * full[work.item]
            by_item[work.item].append(work)
    unscored = tuple(item for item in order if item not in column)
    return ItemTestScores(
        students, ScoreMatrix(items, points, [full[item] for item in items]), by_item, unscored
    )
