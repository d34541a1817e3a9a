"""What holds for one student at one assignment: the rules with this student's extensions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from engine.course.policies.schema import Assignment, Extension, Policies
from engine.course.policies.times import LocalTime, days_late, hours_late
from engine.plurals import counted

__all__ = ["Lateness", "Terms", "extended_due", "terms_of"]


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late one hand-in is.

    Parameters
    ----------
    units : int
        Days or hours, as the penalty counts; 0 is in time.
    per : str
        ``"day"`` or ``"hour"``.
    marked : bool
        The learning system only marked it as late: how late isn't known.
    """

    units: int = 0
    per: str = "day"
    marked: bool = False

    def less(self, days: int) -> Lateness:
        """Return what is left when late days are used for it."""
        used = days if self.per == "day" else 24 * days
        return Lateness(max(0, self.units - used), self.per, self.marked)

    @property
    def days(self) -> int:
        """How many late days would cover all of it."""
        return self.units if self.per == "day" else -(-self.units // 24)

    def __str__(self) -> str:
        return f"{counted(self.units, self.per)} late"


@dataclass(frozen=True, slots=True)
class Terms:
    """The rules of an assignment for one student, in moments.

    Parameters
    ----------
    rules : Assignment
    zone : tzinfo
    opens : datetime or None
        Work handed in earlier doesn't count.
    due, closes : datetime or None
        The moment from which on work is late, and from which on it doesn't count.
    extended : LocalTime or None
        The due date that an extension gave.
    marked_late_days : int or None
        How many days late a file counts of which only this is known; None: it is in time.
    is_excused : bool
    """

    rules: Assignment
    zone: tzinfo
    opens: datetime | None = None
    due: datetime | None = None
    closes: datetime | None = None
    extended: LocalTime | None = None
    marked_late_days: int | None = None
    is_excused: bool = False

    def lateness(self, handed: datetime | None, *, marked_late: bool) -> Lateness:
        """Return how late a hand-in is; one of unknown time is late only where it was marked so."""
        per = self.rules.late.per if self.rules.late else "day"
        if handed is None or self.due is None:
            # Whoever marked it knew nothing of an extension that only the course has.
            if not marked_late or self.marked_late_days is None or self.extended is not None:
                return Lateness(0, per)
            days = self.marked_late_days
            return Lateness(days if per == "day" else 24 * days, per, marked=True)
        if handed < self.due + timedelta(minutes=self.rules.grace):
            return Lateness(0, per)
        late = days_late(self.due, handed, self.zone) if per == "day" else hours_late(self.due, handed)
        return Lateness(late, per)

    def is_counted(self, handed: datetime | None) -> bool:
        """Tell whether work counts at all: one whose time isn't known does."""
        if handed is None:
            return True
        in_time = self.closes is None or handed < self.closes
        return in_time and (self.opens is None or handed >= self.opens)

    def is_due(self, now: datetime) -> bool:
        """Tell whether the due date and its grace are over."""
        return self.due is not None and now >= self.due + timedelta(minutes=self.rules.grace)


def terms_of(policies: Policies, student: str, assignment: str) -> Terms:
    """Return the terms of one student at one assignment.

    The latest of the extensions that fit holds; one that isn't later than the due date changes nothing.
    An extension moves the closing time by as much as the due date.
    """
    rules, zone = policies.rules_of(assignment), policies.zone
    extended = None
    due, closes = rules.due, rules.closes
    if due is not None:
        given = [extended_due(due, one) for one in policies.extensions_of(student, assignment)]
        latest = max((due, *given), key=lambda time: time.ends(zone))
        extended = latest if latest is not due else None
    if due is not None and extended is not None and closes is not None:
        closes = closes.later(extended.wall + extended.lasts - due.wall - due.lasts)
    last = extended or due
    return Terms(
        rules=rules,
        zone=zone,
        opens=rules.opens.begins(zone) if rules.opens else None,
        due=last.ends(zone) if last else None,
        closes=closes.ends(zone) if closes else None,
        extended=extended,
        marked_late_days=policies.marked_late.days if policies.marked_late else None,
        is_excused=assignment in policies.excused_of(student),
    )


def extended_due(due: LocalTime, extension: Extension) -> LocalTime:
    """Return the due date that an extension gives, whether it is later or not."""
    return extension.due or due.later(timedelta(days=extension.days or 0))
