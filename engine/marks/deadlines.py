"""The deadlines of one student for one assignment: the course's rules with that student's extensions.

Rules are written in local times; here they become moments, so that everything after it only compares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from engine.course.policies import (
    AssignmentRules,
    DeadlineExtension,
    LocalTime,
    Policies,
    days_late,
    hours_late,
)
from engine.model import QuizRules, ResultDisclosure
from engine.text.words import count_noun


@dataclass(frozen=True, slots=True)
class LateTime:
    """How late one hand-in is, in the units of its penalty.

    Parameters
    ----------
    units : int
        Days or hours; 0 is in time.
    per : str
        ``"day"`` or ``"hour"``.
    marked : bool
        The learning system only marked it as late; by how much isn't known.
    """

    units: int = 0
    per: str = "day"
    marked: bool = False

    def less(self, days: int) -> LateTime:
        """Return the lateness that remains after using late days."""
        used = days if self.per == "day" else 24 * days
        return LateTime(max(0, self.units - used), self.per, self.marked)

    @property
    def days(self) -> int:
        """How many late days would cover all of it."""
        return self.units if self.per == "day" else -(-self.units // 24)  # rounded up: a day covers 24 hours

    def __str__(self) -> str:
        return f"{count_noun(self.units, self.per)} late"


@dataclass(frozen=True, slots=True)
class StudentDeadlines:
    """The rules of an assignment for one student, as moments.

    Parameters
    ----------
    rules : AssignmentRules
    zone : tzinfo
    opens : datetime or None
        Work handed in earlier doesn't count.
    due, closes : datetime or None
        The moments from which work is late, and from which it doesn't count.
    extended : LocalTime or None
        The due date that an extension gave.
    marked_late_days : int or None
        How late a file counts that was only marked as late; None: it counts as in time.
    is_excused : bool
    """

    rules: AssignmentRules
    zone: tzinfo
    opens: datetime | None = None
    due: datetime | None = None
    closes: datetime | None = None
    extended: LocalTime | None = None
    marked_late_days: int | None = None
    is_excused: bool = False

    def lateness(self, handed: datetime | None, *, marked_late: bool) -> LateTime:
        """Return how late a hand-in is; one without a time is late only if it was marked so."""
        per = self.rules.late.per if self.rules.late else "day"
        if handed is None or self.due is None:
            # The learning system doesn't know of an extension that only the course has.
            if not marked_late or self.marked_late_days is None or self.extended is not None:
                return LateTime(0, per)
            days = self.marked_late_days
            return LateTime(days if per == "day" else 24 * days, per, marked=True)
        if handed < self.due + timedelta(minutes=self.rules.grace):
            return LateTime(0, per)
        # Grace only decides whether work is late; how late it is counts from the due date.
        late = days_late(self.due, handed, self.zone) if per == "day" else hours_late(self.due, handed)
        return LateTime(late, per)

    def is_counted(self, handed: datetime | None) -> bool:
        """Tell whether work counts at all; work without a time does."""
        if handed is None:
            return True
        in_time = self.closes is None or handed < self.closes
        return in_time and (self.opens is None or handed >= self.opens)

    def is_due(self, now: datetime) -> bool:
        """Tell whether the due date and its grace are over."""
        return self.due is not None and now >= self.due + timedelta(minutes=self.rules.grace)


def terms_of(policies: Policies, student: str, assignment: str) -> StudentDeadlines:
    """Return the deadlines of one student for one assignment.

    The latest of the extensions that apply holds; one that isn't later than the due date changes nothing.
    An extension moves the closing time by as much as the due date.
    """
    rules, zone = policies.rules_of(assignment), policies.zone
    extended = None
    due, closes = rules.due, rules.closes
    if due is not None:
        extensions = policies.extensions_of(student, assignment)
        dates = [due, *(extended_due(due, extension) for extension in extensions)]
        latest = max(dates, key=lambda time: time.ends(zone))
        # An extension that isn't later changes nothing, and must not count as one for marked files.
        extended = latest if latest is not due else None
    if due is not None and extended is not None and closes is not None:
        # By the clock on the wall: where clocks change in between, it closes at the same hour of the day.
        closes = closes.later(extended.wall + extended.lasts - due.wall - due.lasts)
    last = extended or due
    return StudentDeadlines(
        rules=rules,
        zone=zone,
        opens=rules.opens.begins(zone) if rules.opens else None,
        due=last.ends(zone) if last else None,
        closes=closes.ends(zone) if closes else None,
        extended=extended,
        marked_late_days=policies.marked_late.days if policies.marked_late else None,
        is_excused=assignment in policies.excused_of(student),
    )


def extended_due(due: LocalTime, extension: DeadlineExtension) -> LocalTime:
    """Return the due date that an extension gives, whether it is later or not."""
    return extension.due or due.later(timedelta(days=extension.days or 0))


def extended_rules(rules: QuizRules, terms: StudentDeadlines) -> QuizRules:
    """Return a quiz's rules with the time that an extension of the course gives a student."""
    if rules.deadline is None or terms.extended is None or terms.due is None:
        return rules
    # A quiz may be open longer than the course's due date: an extension never shortens that.
    return replace(rules, deadline=max(rules.deadline, terms.due))


def disclosure_now(
    terms: StudentDeadlines, after_release: ResultDisclosure, now: datetime
) -> ResultDisclosure:
    """Return what a student's page shows of an assignment: nothing before its release.

    Parameters
    ----------
    terms : StudentDeadlines
    after_release : ResultDisclosure
        By the quiz's own rules.
    now : datetime
    """
    return after_release if _is_released(terms, now) else ResultDisclosure.NOTHING


def _is_released(terms: StudentDeadlines, now: datetime) -> bool:
    release = terms.rules.release
    if release == "immediately":
        return True
    if release == "at due":
        return terms.is_due(now)
    if release == "after closes":
        return terms.closes is not None and now >= terms.closes
    return release != "never" and now >= release.begins(terms.zone)
