"""All marks of one student under the course's rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from engine.course.policies.budget import days_to_use
from engine.course.policies.by_hand import set_by_hand
from engine.course.policies.groups import drop_lowest, percent
from engine.course.policies.points import rounded
from engine.course.policies.schema import Policies
from engine.course.policies.sentences import closed_sentence, sentences
from engine.course.policies.terms import Terms, terms_of
from engine.course.policies.tries import Choice
from engine.course.policies.work import Work, in_order
from engine.course.results import Column, Mark
from engine.model import plain_points

if TYPE_CHECKING:
    from engine.store import Attempt, HandMark

__all__ = ["Counted", "StudentMarks", "student_marks"]

_LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Counted:
    """A column's mark, the attempt that stands for it (None: nothing was handed in), and its terms."""

    mark: Mark
    attempt: Attempt | None
    terms: Terms


@dataclass(frozen=True, slots=True)
class StudentMarks:
    """What counts by column, and the weighted percent where groups have weights."""

    columns: Mapping[Column, Counted]
    percent: float | None = None


def student_marks(
    student: str,
    columns: Mapping[Column, Sequence[Attempt]],
    policies: Policies,
    by_hand: Mapping[str, HandMark],
    now: datetime,
) -> StudentMarks:
    """Return what a student's attempts count.

    Parameters
    ----------
    student : str
    columns : mapping of Column to sequence of Attempt
        With an empty one for what is expected of the student and wasn't handed in.
    policies : Policies
    by_hand : mapping of str to HandMark
        The student's, by column id: they stand above everything else.
    now : datetime
        Whether missing work is due by now.

    Returns
    -------
    StudentMarks
        Work that is missing is left out where nothing is to be said about it.
    """
    terms = {name: terms_of(policies, student, name) for name in {c.assignment for c in columns}}
    works = [
        Work(column, tuple(in_order(attempts)), terms[column.assignment])
        for column, attempts in sorted(columns.items())
    ]
    late_days = _late_days([w for w in works if not _is_set(by_hand.get(w.column.id))], policies.late_days)
    shown: dict[Column, Attempt | None] = {}
    marks: dict[Column, Mark] = {}
    for work in works:
        days = late_days.get(work.column.assignment, 0)
        choice = work.settled(days)
        shown[work.column] = work.shown(choice)
        raw = attempt.report.score if (attempt := shown[work.column]) else None
        mark = _rounded(_mark(work, raw, choice, days, policies, now), policies.round)
        hand = by_hand.get(work.column.id)
        marks[work.column] = mark if hand is None else set_by_hand(mark, hand, work.column.max_score)
    waiting = {work.column for work in works if work.waits and _is_open(marks[work.column])}
    due = {work.column for work in works if work.terms.is_due(now)}
    marks |= drop_lowest(marks, policies, waiting=waiting, due=due)
    return StudentMarks(
        {
            work.column: Counted(marks[work.column], shown[work.column], work.terms)
            for work in works
            if work.attempts or _says(marks[work.column])
        },
        percent(marks, policies, waiting=waiting),
    )


def _late_days(works: Sequence[Work], left: int) -> dict[str, int]:
    """Return the late days used for each assignment, those due first being served first."""
    groups: dict[str, list[Work]] = {}
    for work in works:
        if not work.terms.is_excused:
            groups.setdefault(work.column.assignment, []).append(work)
    used: dict[str, int] = {}
    for name in sorted(groups, key=lambda name: (groups[name][0].terms.due or _LAST, name)) if left else ():
        group = groups[name]
        used[name] = days_to_use(left, max(work.most_days_late for work in group), partial(_total, group))
        left -= used[name]
    return used


def _total(works: Iterable[Work], late_days: int) -> Fraction:
    return sum((work.most(late_days) for work in works), Fraction(0))


def _mark(
    work: Work, raw: float | None, choice: Choice | None, late_days: int, policies: Policies, now: datetime
) -> Mark:
    if work.terms.is_excused:
        return Mark(raw, None, ("excused",), excused=True)
    if choice is not None:
        why = sentences(work.terms.rules, work.full, work.scored(Fraction(0)), choice, late_days)
        return Mark(raw, rounded(choice.value), tuple(why))
    if work.waits:
        return Mark(raw, None)
    return _nothing_counts(work, raw, zero=policies.missing == "zero" and work.terms.is_due(now))


def _rounded(mark: Mark, decimals: int | None) -> Mark:
    """Round what a mark counts; say so where that changes the number that people see."""
    if decimals is None or mark.adjusted is None:
        return mark
    points = float(plain_points(mark.adjusted, decimals))
    if plain_points(points) == plain_points(mark.adjusted):
        return replace(mark, adjusted=points)
    unit = "decimal" if decimals == 1 else "decimals"
    to = f"{decimals} {unit}" if decimals else "whole points"
    return replace(mark, adjusted=points, why=(*mark.why, f"rounded to {to}"))


def _nothing_counts(work: Work, raw: float | None, *, zero: bool) -> Mark:
    why = [closed_sentence(len(work.tries), len(work.tries))] if work.tries else []
    if zero:
        what = "nothing that counts" if work.attempts else "nothing"
        why.append(f"{what} was handed in by the due date: counts as 0")
    return Mark(raw, 0.0 if zero else None, tuple(why))


def _is_set(hand: HandMark | None) -> bool:
    return hand is not None and (hand.excused or hand.score is not None)


def _is_open(mark: Mark) -> bool:
    return mark.adjusted is None and not mark.excused


def _says(mark: Mark) -> bool:
    return mark.adjusted is not None or mark.excused or mark.dropped or bool(mark.comment)
