"""Read the attempts of a class from the store and return each student's results, one column at a time.

This is the way in for everything that shows marks (pages, tables, gradebooks, exports): whoever reads marks
elsewhere would have to repeat which attempts a quiz counts, which work is missing, and what may be shown now.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from engine.course import Roster
from engine.course.policies import Policies
from engine.hand_ins import IntakeProblem, IntakeResult
from engine.marks.class_table import (
    FurtherAnswer,
    ItemResult,
    ScoreChange,
    StudentResults,
    TableColumn,
    column_of,
    columns_of_quiz,
)
from engine.marks.hand_in_limits import hides_checks, when_shown
from engine.marks.late_work import StudentDeadlines, disclosure_now, extended_rules, terms_of
from engine.marks.student_marks import CountedMark, in_order, student_marks
from engine.model import Mode, Outcome, Quiz, ResultDisclosure
from engine.quiz import rules as quiz_rules
from engine.quiz.rules import counted_attempts, why_nothing
from engine.quiz.timing import NETWORK_GRACE
from engine.store import Attempt, CodeComment, HandMark, Store, StoredRegrade

# Attempts (and students) whose rows are read by one statement: some megabytes, and a class in a few parts.
_PART = 500


class ExpectedWork:
    """The columns that a student should have even without any attempt.

    Parameters
    ----------
    store : Store
        Holds the drawn quizzes.
    policies : Policies
        Assignments named there are expected.
    title_of, points_of : callable
        Code item → title, and full points or None where there is no such item.
    """

    def __init__(
        self,
        store: Store,
        policies: Policies,
        title_of: Callable[[str], str],
        points_of: Callable[[str], float | None],
    ) -> None:
        self._store = store
        self._policies = policies
        self._title_of = title_of
        self._points_of = points_of
        dropping = {name for name, group in policies.groups.items() if group.drop_lowest}
        # Missing work that is only left blank needs no column.
        self._expected = {
            name
            for name in policies.named
            if policies.missing == "zero" or policies.rules_of(name).group in dropping
        }
        self._quiz_names = frozenset(store.quiz_names())

    def quiz_names(self, student: str, by_hand: Collection[str]) -> frozenset[str]:
        """Return the names of quizzes that a student may be missing; `by_hand` has columns with a mark."""
        by_person = {column.partition("/")[0] for column in by_hand}
        return self._quiz_names & (self._expected | by_person | {*self._policies.excused_of(student)})

    def missing(
        self,
        student: str,
        present: Collection[TableColumn],
        loaded: Mapping[str, Quiz | None],
        by_hand: Mapping[str, HandMark],
    ) -> dict[TableColumn, list[Attempt]]:
        """Return the columns that a student should have, without any attempt.

        Parameters
        ----------
        student : str
        present : collection of TableColumn
            Columns for which the student handed something in.
        loaded : mapping of str to Quiz or None
            Quizzes that are loaded already, by name; None where the student was given none.
        by_hand : mapping of str to HandMark
            The student's marks by hand, by column id.
        """
        ids = {column.id for column in present}
        excused = set(self._policies.excused_of(student))
        by_person = {column.partition("/")[0] for column in by_hand if column not in ids}
        expected = self._expected | excused
        missing = {
            column: name
            for name in sorted(expected | by_person)
            for column in self.columns(name, student, loaded)
            if column.id not in ids
        }
        return {column: [] for column, name in missing.items() if name in expected or column.id in by_hand}

    def columns(self, name: str, student: str, loaded: Mapping[str, Quiz | None]) -> list[TableColumn]:
        """Return the columns of an assignment for a student; none where it is unknown or wasn't handed out.

        Quizzes in `loaded`, by name, aren't read from the store.
        """
        if name in self._quiz_names and name not in loaded:
            # The newest draw is the one that the student was given last.
            loaded = {name: next(reversed(self._store.quizzes(name, student)), None)}
        if name in loaded:
            quiz = loaded[name]
            return [] if quiz is None else columns_of_quiz(quiz)
        points = self._points_of(name)
        # "~" sorts code after the quizzes, as in column_of.
        return [] if points is None else [TableColumn("~", 0, name, self._title_of(name), points)]


def class_results(
    store: Store,
    *,
    mode: Mode,
    title_of: Callable[[str], str],
    roster: Roster | None = None,
    intake: IntakeResult | None = None,
    problems: Sequence[IntakeProblem] = (),
    policies: Policies | None = None,
    points_of: Callable[[str], float | None] = lambda item: None,
    hidden_checks_of: Callable[[str], frozenset[str]] = lambda item: frozenset(),
    only: Collection[str] | None = None,
) -> Iterator[StudentResults]:
    """Yield the results of everybody in the roster, in the store and in the collection, by id.

    Whoever was graded without a line in the roster is on all pages and in all tables, whichever download a
    batch was about. The store is asked some seven times for all, not for each; a large class is read in
    parts, and only one student's results are in memory at a time.

    Parameters
    ----------
    store : Store
    mode : Mode
        Only attempts of this mode count.
    title_of : callable
        Item id → title.
    roster : Roster, optional
    intake : IntakeResult, optional
        Students who handed in nothing that can be graded are included too.
    problems : sequence of IntakeProblem
        Of the whole run; each student gets their own.
    policies : Policies, optional
        The course's rules about marks. Marks set by hand override them, and need no rules.
    points_of : callable
        Code item → its full points, None where there is no such item; for missing work.
    hidden_checks_of : callable
        Code item → its checks on inputs that students don't see.
    only : collection of str, optional
        Restrict the results to these ids.
    """
    names = {student.id: student.name for student in roster.students} if roster else {}
    # Three sources, so that nobody is missing: on the roster, with attempts, or with files that failed.
    counts = store.attempt_counts(mode)
    students = set(names) | set(counts)
    students |= {files.student for files in intake.students} if intake else set()
    students |= {problem.student for problem in problems if problem.student}
    if only is not None:
        students &= set(only)
    rules = policies or Policies()
    by_hand = _by_student(store) if mode is Mode.MARKS else {}  # practice has none
    expected = ExpectedWork(store, rules, title_of, points_of)
    # Sorted, so that pages and tables have one order whatever the store returns.
    for work in _everybodys_work(store, _parts(sorted(students), counts), mode, title_of, expected, by_hand):
        student, hand = work.student, by_hand.get(work.student, {})
        columns = work.columns | expected.missing(student, work.columns, work.by_name, hand)
        countable = {column: _countable(a, work.quiz_of(a)) for column, a in columns.items()}
        marks = student_marks(student, countable, rules, hand, quiz_rules.now())
        yield StudentResults(
            student=student,
            name=names.get(student, ""),
            items=tuple(
                _result(
                    column,
                    columns[column],
                    counted,
                    work.quiz_of(columns[column]),
                    rules,
                    hand,
                    hidden_checks_of,
                    work.comments,
                    work.regrades,
                )
                for column, counted in marks.columns.items()
                if counted.attempt is not None
            ),
            problems=tuple(problem for problem in problems if problem.student == student),
            in_roster=not names or student in names,  # without a roster nobody is a stranger
            without_work=tuple((c, m.mark) for c, m in marks.columns.items() if m.attempt is None),
            percent=marks.percent,
            zone=rules.zone,
        )


def _by_student(store: Store) -> dict[str, dict[str, HandMark]]:
    by_student: dict[str, dict[str, HandMark]] = {}
    for (student, column), mark in store.hand_marks.current().items():
        by_student.setdefault(student, {})[column] = mark
    return by_student


def _parts(students: Sequence[str], counts: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield all students in parts of some hundred attempts: their rows are in memory together."""
    sizes = itertools.accumulate(1 + counts.get(student, 0) for student in students)
    for _, part in itertools.groupby(zip(students, sizes, strict=True), key=lambda each: each[1] // _PART):
        yield [student for student, _ in part]


def _everybodys_work(
    store: Store,
    parts: Iterable[Sequence[str]],
    mode: Mode,
    title_of: Callable[[str], str],
    expected: ExpectedWork,
    by_hand: Mapping[str, Mapping[str, HandMark]],
) -> Iterator[_StudentWork]:
    for part in parts:
        names = {student: expected.quiz_names(student, by_hand.get(student, {})) for student in part}
        together = zip(
            part,
            store.attempts_by_student(part, mode),
            store.quizzes_by_student(part, mode, frozenset().union(*names.values())),
            store.code_comments.by_student(part),
            store.regrades.by_student(part),
            strict=True,
        )
        for student, attempts, quizzes, comments, regrades in together:
            work = _StudentWork(student, attempts, quizzes, names[student], title_of)
            work.comments, work.regrades = comments, regrades
            yield work


class _StudentWork:
    """The attempts of one student by column, and the quizzes that they answer by id."""

    def __init__(
        self,
        student: str,
        attempts: Iterable[Attempt],
        quizzes: Iterable[Quiz],
        expected: Iterable[str],
        title_of: Callable[[str], str],
    ) -> None:
        self.student = student
        self.comments: Sequence[CodeComment] = ()
        self.regrades: Sequence[StoredRegrade] = ()
        drawn = {quiz.id: quiz for quiz in quizzes}
        self.quizzes: dict[str, Quiz | None] = {}
        self.columns: dict[TableColumn, list[Attempt]] = {}
        full: dict[TableColumn, TableColumn] = {}
        for attempt in attempts:
            if attempt.quiz is not None and attempt.quiz not in self.quizzes:
                self.quizzes[attempt.quiz] = drawn.get(attempt.quiz)
            column = column_of(attempt, self.quizzes.get(attempt.quiz or ""), title_of)
            self.columns.setdefault(column, []).append(attempt)
            full[column] = max(full.get(column, column), column, key=lambda known: known.max_score)
        # A report about an exercise that couldn't be loaded doesn't know its full marks.
        self.columns = {full[column]: attempts for column, attempts in self.columns.items()}
        # Of what is expected the newest draw, unless the student answered another one.
        newest = {quiz.name: quiz for quiz in drawn.values()}
        self.by_name: dict[str, Quiz | None] = {name: newest.get(name) for name in expected}
        self.by_name |= {quiz.name: quiz for quiz in self.quizzes.values() if quiz is not None}

    def quiz_of(self, attempts: Sequence[Attempt]) -> Quiz | None:
        """Return the quiz that the last attempt of one column answers."""
        return self.quizzes.get(attempts[-1].quiz or "") if attempts else None


def _countable(attempts: Sequence[Attempt], quiz: Quiz | None) -> Sequence[Attempt]:
    """Return the attempts without those that a quiz with limited attempts doesn't count."""
    if quiz is None or not quiz.rules.counts_attempts:
        return attempts
    # By identity: attempts hold mappings, which have no hash.
    real = {id(attempt) for attempt in counted_attempts(attempts)}
    return [a for a in attempts if not a.settled or id(a) in real] if real else attempts


def _result(
    column: TableColumn,
    attempts: Sequence[Attempt],
    counts: CountedMark,
    quiz: Quiz | None,
    rules: Policies,
    by_hand: Mapping[str, HandMark],
    hidden_checks_of: Callable[[str], frozenset[str]],
    code_comments: Sequence[CodeComment],
    regrades: Sequence[StoredRegrade],
) -> ItemResult:
    chosen, now = counts.attempt, quiz_rules.now()
    assert chosen is not None  # the caller leaves out columns without an attempt
    disclosure, is_final = _disclosure(attempts, quiz, counts.terms, now)
    hides = chosen.variant is None and hides_checks(counts.terms, now)
    hidden_checks = hidden_checks_of(chosen.item) if hides else frozenset()
    common: dict[str, Any] = {
        "attempts": max(
            1, sum(not attempt.is_blank for attempt in attempts)
        ),  # a blank one alone is still one
        "disclosure": disclosure,
        "is_final": is_final,
        "mark": counts.mark
        if rules.touch_marks or column.id in by_hand
        else None,  # else the score says it all
        "used": len(counted_attempts(attempts)),
        "allowed": None if quiz is None else quiz.rules.attempts,
        "further": tuple(_further(attempts, chosen)),
        "hidden_checks": hidden_checks,
        "hidden_until": when_shown(counts.terms) if hides else "",
        "regraded": tuple(_changes(attempts, regrades)),
    }

    def result_of(attempt: Attempt) -> ItemResult:
        place = (attempt.item, attempt.submission)
        comments = tuple(comment for comment in code_comments if (comment.item, comment.submission) == place)
        return replace(
            plain_result(column, attempt),
            comments=comments,
            source=attempt.source or "" if comments else "",
            modules=attempt.modules if comments else {},
            **common,
        )

    # Which of several attempts is the best would tell of checks that are hidden: the newest is shown instead.
    is_telling = counts.terms.rules.attempts.which not in ("first", "last") and len(attempts) > 1
    stand_in = result_of(in_order(attempts)[-1]) if hidden_checks and is_telling else None
    return replace(result_of(chosen), stand_in=stand_in)


def _changes(attempts: Sequence[Attempt], regrades: Sequence[StoredRegrade]) -> Iterator[ScoreChange]:
    """Yield what regrades changed in the points of these attempts, oldest first."""
    places = {(attempt.item, attempt.submission, attempt.report.mode) for attempt in attempts}
    for change in regrades:
        old, new = change.old, change.new
        # The same history has the marks that people give by a rubric; those aren't regrades.
        is_regrade = old.marking == new.marking and old.score != new.score
        if is_regrade and (new.item, change.submission, change.mode) in places:
            yield ScoreChange(change.at, old.score, new.score, new.max_score)


def plain_result(column: TableColumn, attempt: Attempt) -> ItemResult:
    """Return what one attempt says by itself: without rules, marks and other attempts."""
    return ItemResult(
        column=column,
        report=attempt.report,
        submission=attempt.submission,
        graded=attempt.finished,
        variant=attempt.variant,
        answers=dict(attempt.response.answers) if attempt.response else {},
        filename=attempt.filename,
        reason=attempt.reason,
        handed=attempt.handed,
        marked_late=attempt.marked_late,
    )


def attempt_result(
    attempt: Attempt, attempts: Sequence[Attempt], quiz: Quiz, policies: Policies
) -> ItemResult:
    """Return one attempt at a question as its student may see it now, be it the one that counts or not.

    Parameters
    ----------
    attempt : Attempt
        One of `attempts`, without its mark: that is a matter of all of them.
    attempts : sequence of Attempt
        The student's at this question, oldest first.
    quiz : Quiz
        As stored.
    policies : Policies
        The course's, with what the student was allowed.
    """
    terms = terms_of(policies, attempt.student, quiz.name)
    disclosure, is_final = _disclosure(attempts, quiz, terms, quiz_rules.now())
    return replace(
        plain_result(column_of(attempt, quiz, lambda item: item), attempt),
        disclosure=disclosure,
        is_final=is_final,
        used=len(counted_attempts(attempts)),
        allowed=quiz.rules.attempts,
    )


def _further(attempts: Sequence[Attempt], chosen: Attempt) -> Iterator[FurtherAnswer]:
    """Yield the answers that earn nothing by the quiz's rules; the report of the one that counts says so."""
    for attempt in attempts:
        why = None if attempt is chosen or attempt.is_blank else why_nothing(attempt.report)
        if why is not None and attempt.response is not None:
            yield FurtherAnswer(dict(attempt.response.answers), attempt.filename, why)


def _disclosure(
    attempts: Sequence[Attempt], quiz: Quiz | None, terms: StudentDeadlines, now: datetime
) -> tuple[ResultDisclosure, bool]:
    """Return what may be shown now, and whether no further attempt is possible or needed."""
    if quiz is None:
        return disclosure_now(terms, ResultDisclosure.FEEDBACK, now), True
    # Answers that were on their way are taken a little longer on the site, and nothing may tell them.
    now -= NETWORK_GRACE
    rules = extended_rules(quiz.rules, terms)
    item = attempts[-1].item
    question = next((question for question in quiz.questions if question.variant.item == item), None)
    level = rules.disclosure(now) if question is None else question.disclosure(rules, now)
    counted = counted_attempts(attempts)
    is_right = any(attempt.report.outcome is Outcome.RIGHT for attempt in counted)
    is_final = rules.is_over(now) or is_right or len(counted) >= (rules.attempts or 1)
    return disclosure_now(terms, level, now), is_final
