"""The schema of ``policies`` in ``course.yaml``: what an instructor may rule about marks.

It only says what may be written; :mod:`engine.marks` says what the rules do to marks, and ``grade course
check`` which of them contradict each other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import tzinfo
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from engine.course.local_time import LocalTime, Moment, TimeZone, local_time, zone_named
from engine.items.field_types import Number, Whole
from engine.items.parameter_specs import refuse

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
        text = f"{words}, or a time such as 2026-11-06T18:00 was expected"
        raise PydanticCustomError("rule_here", "{text}", {"text": text}) from error


Release = Annotated[
    Literal["immediately", "at due", "after closes", "never"] | LocalTime, BeforeValidator(_release)
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LatePenalty(_Strict):
    """What late work loses: ``percent`` of its score or of the full points, for each day or hour begun.

    ``cap`` limits what is taken off in all, in percent of the same; ``floor`` is the least that remains, in
    percent of the full points.
    """

    per: Literal["day", "hour"] = "day"
    percent: Percent
    of: Literal["score", "points"] = "score"
    cap: Percent | None = None
    floor: Percent | None = None


class CountedAttempts(_Strict):
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


class AssignmentRules(_Strict):
    """A quiz or a code exercise; what it leaves out is taken from ``default``."""

    opens: Moment | None = None
    due: Moment | None = None
    closes: Moment | None = None
    grace: Annotated[Whole, Field(ge=0, le=10_080)] = 0  # minutes; at most a week
    late: LatePenalty | None = None
    attempts: CountedAttempts = Field(default_factory=CountedAttempts)
    group: Name | None = None
    release: Release = "immediately"

    def with_defaults(self, default: AssignmentRules) -> AssignmentRules:
        """Return these rules, with those of `default` for the keys that aren't set here."""
        return default.model_copy(update={name: getattr(self, name) for name in self.model_fields_set})


class AssignmentGroup(_Strict):
    """Assignments that count together."""

    weight: Percent | None = None
    drop_lowest: Annotated[Whole, Field(ge=0, le=1000)] = 0


class DeadlineExtension(_Strict):
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


class ExcusedAssignment(_Strict):
    """One assignment is left out for one student."""

    student: Name
    assignment: Name


class MarkedLate(_Strict):
    """How many days late a file counts that was only marked as late."""

    days: Annotated[Whole, Field(ge=1, le=365)]


def _marked_late(value: Any) -> Any:
    if isinstance(value, str) and value != "ignore":
        text = f"`ignore` or, such as {{days: 1}}, how late such work is was expected, not '{value[:40]}'"
        raise PydanticCustomError("rule_here", "{text}", {"text": text})
    return None if value == "ignore" else value


class Policies(_Strict):
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
        return bool(self.model_fields_set - {"unlisted_students", "timezone"})

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
