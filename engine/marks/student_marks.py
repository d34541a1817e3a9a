"""All marks of one student under the course's rules: a pure function of attempts, rules and the moment.

In this order: each column chooses among its attempts, late days are spent on the assignments due first, marks
are rounded, decisions of people override them, the lowest of a group are dropped, and groups are weighed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING

from engine.course.policies import Policies
from engine.marks.class_table import ColumnMark, TableColumn
from engine.marks.late_work import (
    AttemptPoints,
    CountedChoice,
    LateTime,
    StudentDeadlines,
    choose,
    closed_sentence,
    days_to_use,
    exact,
    plain,
    rounded,
    sentences,
    terms_of,
)
from engine.marks.weighted_groups import drop_lowest, weighted_percent
from engine.model import Outcome
from engine.text.words import clean_line, count_noun, plain_points

if TYPE_CHECKING:
    from engine.store import Attempt, HandMark


def in_order(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return attempts in the order in which they were handed in, or were graded where that isn't known."""
    return sorted(attempts, key=lambda attempt: (attempt.handed or attempt.started, attempt.sequence))


@dataclass(frozen=True)
class _ColumnWork:
    """One student's work in one column."""

    column: TableColumn
    attempts: tuple[Attempt, ...]
    terms: StudentDeadlines

    @cached_property
    def full(self) -> Fraction:
        """Full points."""
        # A report about an exercise that couldn't be loaded doesn't know its full points.
        return exact(max((a.report.max_score for a in self.attempts), default=self.column.max_score))

    @cached_property
    def usable(self) -> tuple[Attempt, ...]:
        """The attempts that count: unreadable and blank answers are ignored unless there is nothing else."""
        # Ungraded attempts stay in: they may turn out to be the best.
        graded = [a for a in self.attempts if a.settled or a.report.outcome is Outcome.UNGRADED]
        return tuple(a for a in graded if not a.is_blank) or tuple(graded)

    @cached_property
    def lateness(self) -> tuple[LateTime, ...]:
        """How late each of :attr:`usable` is."""
        return tuple(self.terms.lateness(a.handed, marked_late=a.marked_late) for a in self.usable)

    @property
    def most_days_late(self) -> int:
        """Late days that the latest attempt could use."""
        return max((late.days for late in self.lateness), default=0)

    def points(self, ungraded: Fraction) -> list[AttemptPoints]:
        """Return the attempts with their points, `ungraded` for those that have none yet."""
        return [
            AttemptPoints(
                ungraded if attempt.report.score is None else exact(attempt.report.score),
                late,
                self.terms.is_counted(attempt.handed),
            )
            for attempt, late in zip(self.usable, self.lateness, strict=True)
        ]

    def best_case(self, late_days: int) -> Fraction:
        """Return the points with late days used, if everything ungraded turns out right."""
        choice = choose(self.terms.rules, self.full, self.points(self.full), late_days)
        return choice.value if choice else Fraction(0)

    def choice(self, late_days: int) -> CountedChoice | None:
        """Return what counts; None where nothing does, or where an ungraded attempt can still change it."""
        rules = self.terms.rules
        # Ungraded work as a 0 and as full marks: where both give the same points, grading can't matter.
        low = choose(rules, self.full, self.points(Fraction(0)), late_days)
        if low is None or not self.waiting:
            return low
        high = choose(rules, self.full, self.points(self.full), late_days)
        is_graded = self.usable[low.index].report.score is not None
        return low if high is not None and high.value == low.value and is_graded else None

    @property
    def waiting(self) -> list[Attempt]:
        """The attempts that count and have no score yet."""
        return [a for a in self.usable if a.report.score is None and self.terms.is_counted(a.handed)]

    def attempt_for(self, choice: CountedChoice | None) -> Attempt | None:
        """Return the attempt that stands for a choice; None where nothing was handed in."""
        if choice is not None:
            return self.usable[choice.index]
        if self.waiting:
            # The newest one: it is what the student waits for.
            return self.waiting[-1]
        # Nothing counts, and yet there is work: the page shows the best of it.
        best = max(self.usable, key=lambda attempt: attempt.report.score or 0.0, default=None)
        return best or (self.attempts[-1] if self.attempts else None)


# An account of a machine tells a student nothing, and isn't theirs to know.
_ACCOUNTS = frozenset({"", "root", "admin", "administrator", "ubuntu", "www-data"})


def _set_by_hand(mark: ColumnMark, hand: HandMark, max_score: float) -> ColumnMark:
    """Return the mark overridden by a person's decision; a comment alone changes no points."""
    by = "the instructor" if hand.by in _ACCOUNTS else clean_line(hand.by, 100)
    # An excuse has no points, so that the column leaves totals and full points alike.
    if hand.excused:
        return ColumnMark(mark.raw, None, (f"excused by {by}",), excused=True, comment=hand.comment)
    if hand.score is None:
        return replace(mark, comment=hand.comment)
    why = f"set by {by}: {plain(exact(hand.score))} of {plain(exact(max_score))}"
    return ColumnMark(mark.raw, hand.score, (why,), comment=hand.comment, by_hand=True)


_NEVER_DUE = datetime.max.replace(tzinfo=UTC)  # sorts what has no due date last


@dataclass(frozen=True, slots=True)
class CountedMark:
    """A column's mark, the attempt that stands for it (None: nothing was handed in), and its deadlines."""

    mark: ColumnMark
    attempt: Attempt | None
    terms: StudentDeadlines


@dataclass(frozen=True, slots=True)
class StudentMarks:
    """The counted mark of each column, and the weighted percentage where groups have weights."""

    columns: Mapping[TableColumn, CountedMark]
    percent: float | None = None


def student_marks(
    student: str,
    columns: Mapping[TableColumn, Sequence[Attempt]],
    policies: Policies,
    by_hand: Mapping[str, HandMark],
    now: datetime,
) -> StudentMarks:
    """Return the marks that a student's attempts count.

    Parameters
    ----------
    student : str
    columns : mapping of TableColumn to sequence of Attempt
        With an empty one for work that is expected and wasn't handed in.
    policies : Policies
    by_hand : mapping of str to HandMark
        The student's, by column id: they override everything else.
    now : datetime
        Decides whether missing work is due.

    Returns
    -------
    StudentMarks
        Without columns of missing work about which there is nothing to say.
    """
    terms = {name: terms_of(policies, student, name) for name in {c.assignment for c in columns}}
    # In the order of the columns, which is that of all tables.
    works = [
        _ColumnWork(column, tuple(in_order(handed_in)), terms[column.assignment])
        for column, handed_in in sorted(columns.items())
    ]
    # A day spent on a column whose mark is set by hand would be wasted.
    late_days = _late_days([w for w in works if not _is_set(by_hand.get(w.column.id))], policies.late_days)
    attempts: dict[TableColumn, Attempt | None] = {}
    marks: dict[TableColumn, ColumnMark] = {}
    for work in works:
        days = late_days.get(work.column.assignment, 0)
        choice = work.choice(days)
        attempts[work.column] = attempt = work.attempt_for(choice)
        raw = attempt.report.score if attempt else None
        mark = _rounded(_mark(work, raw, choice, days, policies, now), policies.round)
        hand = by_hand.get(work.column.id)
        marks[work.column] = mark if hand is None else _set_by_hand(mark, hand, work.column.max_score)
    waiting = {work.column for work in works if work.waiting and _is_open(marks[work.column])}
    # Work that isn't due yet can still be handed in, so it is never dropped as missing.
    due = {work.column for work in works if work.terms.is_due(now)}
    # After marks by hand and rounding: what is dropped is what the student sees.
    marks |= drop_lowest(marks, policies, waiting=waiting, due=due)
    return StudentMarks(
        {
            work.column: CountedMark(marks[work.column], attempts[work.column], work.terms)
            for work in works
            if work.attempts or _is_worth_showing(marks[work.column])
        },
        weighted_percent(marks, policies, waiting=waiting),
    )


def _late_days(works: Sequence[_ColumnWork], budget: int) -> dict[str, int]:
    """Return the late days used for each assignment; those due first are served first."""
    groups: dict[str, list[_ColumnWork]] = {}
    for work in works:
        if not work.terms.is_excused:
            groups.setdefault(work.column.assignment, []).append(work)
    used: dict[str, int] = {}
    by_due = sorted(groups, key=lambda name: (groups[name][0].terms.due or _NEVER_DUE, name))
    for name in by_due if budget else ():
        group = groups[name]
        used[name] = days_to_use(budget, max(work.most_days_late for work in group), partial(_total, group))
        budget -= used[name]
    return used


def _total(works: Iterable[_ColumnWork], late_days: int) -> Fraction:
    return sum((work.best_case(late_days) for work in works), Fraction(0))


def _mark(
    work: _ColumnWork,
    raw: float | None,
    choice: CountedChoice | None,
    late_days: int,
    policies: Policies,
    now: datetime,
) -> ColumnMark:
    if work.terms.is_excused:
        return ColumnMark(raw, None, ("excused",), excused=True)
    if choice is not None:
        why = sentences(work.terms.rules, work.full, work.points(Fraction(0)), choice, late_days)
        return ColumnMark(raw, rounded(choice.value), tuple(why))
    if work.waiting:
        return ColumnMark(raw, None)
    return _nothing_counts(work, raw, zero=policies.missing == "zero" and work.terms.is_due(now))


def _rounded(mark: ColumnMark, decimals: int | None) -> ColumnMark:
    """Round a mark; say so where that changes the number that people see."""
    if decimals is None or mark.adjusted is None:
        return mark
    points = float(plain_points(mark.adjusted, decimals))
    # People see two decimals: 7.001 rounded to 7 isn't worth a sentence.
    if plain_points(points) == plain_points(mark.adjusted):
        return replace(mark, adjusted=points)
    to = count_noun(decimals, "decimal") if decimals else "whole points"
    return replace(mark, adjusted=points, why=(*mark.why, f"rounded to {to}"))


def _nothing_counts(work: _ColumnWork, raw: float | None, *, zero: bool) -> ColumnMark:
    why = [closed_sentence(len(work.usable), len(work.usable))] if work.usable else []
    if zero:
        work_missing = "nothing that counts" if work.attempts else "nothing"
        why.append(f"{work_missing} was handed in by the due date: counts as 0")
    return ColumnMark(raw, 0.0 if zero else None, tuple(why))


def _is_set(hand: HandMark | None) -> bool:
    return hand is not None and (hand.excused or hand.score is not None)


def _is_open(mark: ColumnMark) -> bool:
    return mark.adjusted is None and not mark.excused


def _is_worth_showing(mark: ColumnMark) -> bool:
    return mark.adjusted is not None or mark.is_left_out or bool(mark.comment)
