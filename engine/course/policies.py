"""The schema of ``policies`` in ``course.yaml``: what an instructor may rule about marks.

It only says what may be written; :mod:`engine.marks` says what the rules do to marks, and ``grade course
check`` which of them contradict each other.

Times are wall-clock times in the course's time zone: ``due: 2026-11-06`` means the whole day,
``2026-11-06T18:00`` the whole minute, and work is late when what was written is over. Where clocks are put
back a time comes twice, and where they are put forward it doesn't exist; students always get the later
moment.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from engine.items.field_types import Number, StrictModel, Whole, fault_here, refuse
from engine.text.schema_errors import describe
from engine.text.words import did_you_mean

_EXAMPLE = "a date such as 2026-11-06, or a date and time such as 2026-11-06T18:00"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?")
_OFFSET = re.compile(r".*:\d{2}\s*(Z|[+-]\d{2}(:?\d{2})?)$")
_DAY, _MINUTE, _SECOND = timedelta(days=1), timedelta(minutes=1), timedelta(seconds=1)


@dataclass(frozen=True, slots=True, order=True)
class LocalTime:
    """A local time without a zone, as far as it was written.

    Parameters
    ----------
    wall : datetime
        What the clock shows at its beginning, without a zone.
    lasts : timedelta
        How long it goes on, by how precisely it was written: a day, a minute or a second.
    """

    wall: datetime
    lasts: timedelta = _MINUTE

    def begins(self, zone: tzinfo) -> datetime:
        """Return its first moment in UTC; the earlier one where the clock shows it twice."""
        return _instants(self.wall, zone)[0]

    def ends(self, zone: tzinfo) -> datetime:
        """Return the moment in UTC at which it is over; the later one where the clock shows it twice."""
        if self.lasts < _DAY:
            return _instants(self.wall, zone)[1] + self.lasts
        first, last = _instants(self.wall + self.lasts, zone)
        # A midnight that comes twice: the later one ends this day only if the hour before it still belongs to
        # it.
        return last if _day(last - timedelta(microseconds=1), zone) <= self.wall.date() else first

    def later(self, by: timedelta) -> LocalTime:
        """Return the time that the clock on the wall shows `by` later."""
        return LocalTime(self.wall + by, self.lasts)

    def trouble(self, zone: tzinfo) -> str | None:
        """Return what is odd about it if clocks are put forward or back then; None for whole days."""
        first, last = _instants(self.wall, zone)
        if self.lasts >= _DAY:
            return None
        actual = last.astimezone(zone).replace(tzinfo=None)
        if actual != self.wall:
            return f"clocks are put forward: there is no {self} on this day, {actual:%H:%M} counts"
        return f"clocks are put back: they show {self} twice, the later one counts" if first < last else None

    def __str__(self) -> str:
        return f"{self.wall:%Y-%m-%d}" if self.lasts >= _DAY else f"{self.wall:%Y-%m-%d %H:%M}"


def _instants(wall: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    """Return the first and the last moment at which the clock shows `wall`.

    Where it never does because clocks are put forward, both are the moment that it would have been.
    """
    # fold tells the first from the second time that the clock shows the same.
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return (first, second) if first <= second else (first, first)


def _day(instant: datetime, zone: tzinfo) -> date:
    return instant.astimezone(zone).date()


def days_late(due: datetime, handed: datetime, zone: tzinfo) -> int:
    """Return how many calendar days a hand-in is late: at least 1 if it is late at all.

    Parameters
    ----------
    due : datetime
        The moment from which it is late, with its zone.
    handed : datetime
        With its zone.
    zone : tzinfo
        Whose calendar counts. A day on which clocks change is a day like any other.
    """
    if handed < due:
        return 0
    # Work due until midnight is due on the day that ends then, so step back before asking for the date.
    last = _day(due.astimezone(UTC) - timedelta(microseconds=1), zone)
    return max(1, (_day(handed, zone) - last).days)


def hours_late(due: datetime, handed: datetime) -> int:
    """Return how many hours a hand-in is late; every hour begun counts."""
    return (handed - due) // timedelta(hours=1) + 1 if handed >= due else 0


def local_time(value: Any) -> Any:
    """Return the time that a text of ``course.yaml`` stands for, or raise a :class:`PydanticCustomError`."""
    if isinstance(value, LocalTime):
        return value
    text = value.strip() if isinstance(value, str) else ""
    if _OFFSET.fullmatch(text):
        raise fault_here("leave out the offset: times are those of the course's `timezone`")
    match = _TIME.fullmatch(text)
    if match is None and not _DATE.fullmatch(text):
        raise fault_here(f"{_EXAMPLE} was expected, not {describe(value)}")
    try:
        if match is None:
            local = LocalTime(datetime.combine(date.fromisoformat(text), time()), _DAY)
        else:
            wall = datetime.fromisoformat(f"{match[1]}T{match[2]}{match[3] or ''}")
            local = LocalTime(wall, _SECOND if match[3] else _MINUTE)
    except ValueError:
        raise fault_here(f"there is no such {'date' if match is None else 'time'}: {text}") from None
    # Arithmetic with extensions stays within what datetime can represent; other years are slips of the pen.
    if not 1970 <= local.wall.year <= 2999:
        raise fault_here(f"a year from 1970 to 2999 was expected, not {local.wall.year}")
    return local


def zone_named(name: str) -> tzinfo:
    """Return the time zone of that name, or raise a :class:`PydanticCustomError`."""
    from zoneinfo import ZoneInfo, available_timezones

    try:
        # ZoneInfo itself refuses names such as ../../etc/passwd, which lead out of its folder.
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        near = did_you_mean(name, sorted(available_timezones()), ", such as Europe/Berlin")
        raise fault_here(f"'{name[:40]}' isn't a time zone{near}") from None


def _time_zone(name: Any) -> Any:
    if not isinstance(name, str):
        raise fault_here(
            f"the name of a time zone, such as Europe/Berlin, was expected, not {describe(name)}"
        )
    zone_named(name)
    return name


Moment = Annotated[LocalTime, BeforeValidator(local_time)]
TimeZone = Annotated[str, BeforeValidator(_time_zone)]


DEFAULT = "default"  # the entry of `assignments` that all others fall back on

Percent = Annotated[Number, Field(ge=0, le=100)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
_WORDS = ("immediately", "at due", "after closes", "never")


def _release(value: Any) -> Any:
    if isinstance(value, LocalTime) or value in _WORDS:
        return value
    try:
        return local_time(value)
    except PydanticCustomError as error:
        if isinstance(value, str) and value[:1].isdigit():  # meant as a time: say what is wrong with that
            raise
        words = ", ".join(_WORDS)
        raise fault_here(f"{words}, or a time such as 2026-11-06T18:00 was expected") from error


Release = Annotated[
    Literal["immediately", "at due", "after closes", "never"] | LocalTime, BeforeValidator(_release)
]


class LatePenalty(StrictModel):
    """What late work loses: ``percent`` of its score or of the full points, for each day or hour begun.

    ``cap`` limits what is taken off in all, in percent of the same; ``floor`` is the least that remains, in
    percent of the full points.
    """

    per: Literal["day", "hour"] = "day"
    percent: Percent
    of: Literal["score", "points"] = "score"
    cap: Percent | None = None
    floor: Percent | None = None


class CountedAttempts(StrictModel):
    """Which attempts count: the first ``count`` of them (all without it), and ``which`` of these."""

    count: Annotated[Whole, Field(ge=1, le=1000)] | None = None
    which: Literal["best", "last", "first", "average", "decaying"] = "best"
    shares: Annotated[tuple[Annotated[Number, Field(ge=0, le=1)], ...], Field(max_length=20)] = ()

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        if self.which == "decaying" and not self.shares:
            refuse("shares", "`decaying` needs what each attempt can earn, such as shares: [1, 0.8, 0.5]")
        if self.which != "decaying" and self.shares:
            refuse("shares", "only `which: decaying` has shares")
        if list(self.shares) != sorted(self.shares, reverse=True):
            refuse("shares", "a later attempt can't earn more than an earlier one")
        return self


class HandInLimits(StrictModel):
    """How often students hand in code themselves, and when they see the results of hidden checks.

    ``per_day`` programs for an exercise on a day of the course's calendar, and ``cool_down`` minutes between
    two. ``hidden_checks`` are those of the exercise that aren't ``public``.
    """

    per_day: Annotated[Whole, Field(ge=1, le=1000)] | None = None
    cool_down: Annotated[Whole, Field(ge=0, le=10_080)] = 0  # minutes; at most a week
    hidden_checks: Literal["immediately", "after due", "after closes"] = "immediately"


class AssignmentRules(StrictModel):
    """A quiz or a code exercise; what it leaves out is taken from ``default``."""

    opens: Moment | None = None
    due: Moment | None = None
    closes: Moment | None = None
    grace: Annotated[Whole, Field(ge=0, le=10_080)] = 0  # minutes; at most a week
    late: LatePenalty | None = None
    attempts: CountedAttempts = Field(default_factory=CountedAttempts)
    group: Name | None = None
    release: Release = "immediately"
    limits: HandInLimits = Field(default_factory=HandInLimits)

    def with_defaults(self, default: AssignmentRules) -> AssignmentRules:
        """Return these rules, with those of `default` for the keys that aren't set here."""
        return default.model_copy(update={name: getattr(self, name) for name in self.model_fields_set})


class AssignmentGroup(StrictModel):
    """Assignments that count together."""

    weight: Percent | None = None
    drop_lowest: Annotated[Whole, Field(ge=0, le=1000)] = 0


class DeadlineExtension(StrictModel):
    """More time for one student: a new due date or extra days, for all assignments if it names none."""

    student: Name
    assignment: Name | None = None
    due: Moment | None = None
    days: Annotated[Whole, Field(ge=1, le=1000)] | None = None

    @model_validator(mode="after")
    def _says_how_long(self) -> Self:
        if (self.due is None) == (self.days is None):
            refuse("student", "an extension has either `due` or `days`")
        return self


class ExcusedAssignment(StrictModel):
    """One assignment is left out for one student."""

    student: Name
    assignment: Name


class ExtraTime(StrictModel):
    """A longer time limit for one student, by ``percent`` of it: of all quizzes if it names none."""

    student: Name
    assignment: Name | None = None
    percent: Annotated[Number, Field(gt=0, le=1000)]


class MarkedLate(StrictModel):
    """How many days late a file counts that was only marked as late."""

    days: Annotated[Whole, Field(ge=1, le=365)]


def _marked_late(value: Any) -> Any:
    if isinstance(value, str) and value != "ignore":
        raise fault_here(
            f"`ignore` or, such as {{days: 1}}, how late such work is was expected, not '{value[:40]}'"
        )
    return None if value == "ignore" else value


class Policies(StrictModel):
    """All rules of a course.

    ``unlisted_students``: whether hand-ins of people who aren't in the roster are graded (and marked as such)
    or refused. ``round``: the number of decimals to which each mark that counts is rounded, halves up.
    """

    unlisted_students: Literal["grade", "refuse"] = "grade"
    timezone: TimeZone = "UTC"
    missing: Literal["blank", "zero"] = "blank"
    marked_late: Annotated[MarkedLate | None, BeforeValidator(_marked_late)] = None
    round: Annotated[Whole, Field(ge=0, le=4)] | None = None
    late_days: Annotated[Whole, Field(ge=0, le=1000)] = 0
    groups: dict[Name, AssignmentGroup] = Field(default_factory=dict)
    assignments: dict[Name, AssignmentRules] = Field(default_factory=dict)
    extensions: Annotated[tuple[DeadlineExtension, ...], Field(max_length=10_000)] = ()
    excused: Annotated[tuple[ExcusedAssignment, ...], Field(max_length=10_000)] = ()
    extra_time: Annotated[tuple[ExtraTime, ...], Field(max_length=10_000)] = ()

    @property
    def zone(self) -> tzinfo:
        """The course's time zone."""
        return zone_named(self.timezone)

    @cached_property
    def _extensions_of(self) -> Mapping[str, Sequence[DeadlineExtension]]:
        # By student once: a class of 300 asks for each student and assignment.
        by_student: dict[str, list[DeadlineExtension]] = {}
        for extension in self.extensions:
            by_student.setdefault(extension.student, []).append(extension)
        return by_student

    @cached_property
    def _excused(self) -> Mapping[str, set[str]]:
        by_student: dict[str, set[str]] = {}
        for excuse in self.excused:
            by_student.setdefault(excuse.student, set()).add(excuse.assignment)
        return by_student

    @cached_property
    def _extra_time(self) -> Mapping[str, Sequence[ExtraTime]]:
        by_student: dict[str, list[ExtraTime]] = {}
        for entry in self.extra_time:
            by_student.setdefault(entry.student, []).append(entry)
        return by_student

    def extra_time_of(self, student: str, assignment: str) -> Decimal:
        """Return by how many percent a student's time limit is longer: the most of what applies."""
        entries = self._extra_time.get(student, ())
        return max((e.percent for e in entries if e.assignment in (None, assignment)), default=Decimal(0))

    def extensions_of(self, student: str, assignment: str) -> list[DeadlineExtension]:
        """Return a student's extensions for an assignment."""
        extensions = self._extensions_of.get(student, ())
        return [extension for extension in extensions if extension.assignment in (None, assignment)]

    def excused_of(self, student: str) -> Collection[str]:
        """Return the assignments from which a student is excused."""
        return self._excused.get(student, ())

    @property
    def touch_marks(self) -> bool:
        """Whether any rule can change a mark, or when it is shown."""
        # By what is written, not by its effect: a rule that says the default still speaks of marks.
        return bool(self.model_fields_set - {"unlisted_students", "timezone", "extra_time"})

    @cached_property
    def _rules(self) -> Mapping[str, AssignmentRules]:
        default = self.assignments.get(DEFAULT, AssignmentRules())
        rules = {name: entry.with_defaults(default) for name, entry in self.assignments.items()}
        return rules | {DEFAULT: default}

    def rules_of(self, name: str) -> AssignmentRules:
        """Return the rules of an assignment; those of ``default`` where it has none of its own."""
        return self._rules.get(name, self._rules[DEFAULT])

    @property
    def named(self) -> tuple[str, ...]:
        """The assignments that have rules of their own."""
        return tuple(name for name in self.assignments if name != DEFAULT)
