"""``policies`` in course.yaml: every fault with its place, and none of them stops grading."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from engine.course import Course
from engine.course.policies import AssignmentRules
from engine.errors import CourseError, SpecError

A_TIME = "a date such as 2026-11-06, or a date and time such as 2026-11-06T18:00"
RELEASES = "immediately, at due, after closes, never, or a time such as 2026-11-06T18:00 was expected"


def opened(tmp_path: Path, policies: str) -> Course:
    course = Course.init(tmp_path, "T")
    (course.folder / "course.yaml").write_text(f"title: T\npolicies:\n{policies}", encoding="utf-8")
    return Course.open(tmp_path)


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("late_dayz: 3", 3, "unknown key 'late_dayz'; did you mean 'late_days'?"),
        ("late_days: 1.5", 14, "a whole number was expected, not the number 1.5"),
        ("late_days: -1", 14, "the number must be at least 0, not -1"),
        ("missing: none", 12, "'none' isn't one of blank or zero"),
        (
            "marked_late: soon",
            16,
            "`ignore` or, such as {days: 1}, how late such work is was expected, not 'soon'",
        ),
        ("marked_late: {days: 0}", 23, "the number must be at least 1, not 0"),
        ("groups: {q: {weight: 101}}", 24, "the number must be at most 100, not 101"),
        ("groups: {q: {drop: 1}}", 16, "unknown key 'drop'; the keys here are drop_lowest or weight"),
        ("assignments: {a: {due: 2026-02-30}}", 26, "there is no such date: 2026-02-30"),
        (
            "assignments: {a: {due: 2026-11-06T9:00}}",
            26,
            f"{A_TIME} was expected, not the text '2026-11-06T9:00'",
        ),
        ("assignments: {a: {late: {percent: 120}}}", 37, "the number must be at most 100, not 120"),
        ("assignments: {a: {late: {}}}", 27, "the key 'percent' is missing here"),
        (
            "assignments: {a: {attempts: {which: worst}}}",
            39,
            "'worst' isn't one of best, last, first, average or decaying",
        ),
        (
            "assignments: {a: {attempts: {which: decaying}}}",
            31,
            "`decaying` needs what each attempt can earn, such as shares: [1, 0.8, 0.5]",
        ),
        ("assignments: {a: {attempts: {shares: [1]}}}", 40, "only `which: decaying` has shares"),
        (
            "assignments: {a: {attempts: {which: decaying, shares: [0.5, 1]}}}",
            57,
            "a later attempt can't earn more than an earlier one",
        ),
        ("assignments: {a: {release: soon}}", 30, RELEASES),
        ("assignments: {a: {release: 2026-02-30}}", 30, "there is no such date: 2026-02-30"),
        ("extensions: [{student: ada}]", 26, "an extension has either `due` or `days`"),
        (
            "extensions: [{student: ada, days: 1, due: 2026-11-06}]",
            26,
            "an extension has either `due` or `days`",
        ),
        ("extensions: [{student: 7, days: 1}]", 26, "text was expected, not the number 7; put it in quotes"),
        ("excused: [{student: ada}]", 13, "the key 'assignment' is missing here"),
    ],
)
def test_a_fault_is_told_with_its_place_and_no_rule_applies(
    tmp_path: Path, line: str, column: int, message: str
) -> None:
    course = opened(tmp_path, f"  unlisted_students: refuse\n  timezone: Asia/Kolkata\n  {line}\n")
    assert [(f.line, f.column, f.message) for f in course.rule_faults] == [(5, column, message)]
    assert (course.policies.unlisted_students, course.policies.timezone) == ("refuse", "Asia/Kolkata")
    assert course.policies.rules_of("week-1") == AssignmentRules(release="never")
    with pytest.raises(CourseError, match=r"course\.yaml:5:"):
        course.require_rules()
    (problem,) = course.rule_problems()
    assert problem.where == f"{tmp_path / 'course.yaml'}:5:{column}"
    told = "no rule about marks was applied: marks are as graded, and students' pages show no results"
    assert problem.message == f"{message}; {told}"
    assert problem.noted, "no hand-in is ungraded because of it"


def test_all_faults_are_told_in_the_order_of_their_lines(tmp_path: Path) -> None:
    course = opened(
        tmp_path,
        "  assignments:\n    a: {due: 2026-02-30}\n    b: {closes: 2026-04-31, opens: x}\n"
        "  late_days: many\n",
    )
    assert [(fault.line, fault.column) for fault in course.rule_faults] == [
        (4, 14),
        (5, 17),
        (5, 36),
        (6, 14),
    ]


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("timezone: Europe/Berlni", 13, "'Europe/Berlni' isn't a time zone; did you mean 'Europe/Berlin'?"),
        ("timezone: /etc/passwd", 13, "'/etc/passwd' isn't a time zone, such as Europe/Berlin"),
        ("timezone: 1", 13, "the name of a time zone, such as Europe/Berlin, was expected, not the number 1"),
    ],
)
def test_a_zone_that_isnt_known_stops_everything(
    tmp_path: Path, line: str, column: int, message: str
) -> None:
    """Hand-ins would be stored with the wrong time."""
    with pytest.raises(SpecError) as caught:
        opened(tmp_path, f"  {line}\n")
    assert [(f.line, f.column, f.message) for f in caught.value.diagnostics] == [(3, column, message)]


def test_what_is_no_rule_about_marks_still_stops_everything(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        opened(tmp_path, "  unlisted_students: maybe\n  late_days: many\n")
    assert [fault.line for fault in caught.value.diagnostics] == [3, 4]


def test_an_assignment_takes_from_the_default_what_it_doesnt_say(tmp_path: Path) -> None:
    course = opened(
        tmp_path,
        "  assignments:\n"
        "    default: {grace: 15, late: {percent: 10}, due: 2026-11-06}\n"
        "    a: {due: 2026-11-07T12:00}\n"
        "    b: {late: null, grace: 0}\n",
    )
    policies = course.policies
    assert policies.named == ("a", "b") and policies.touch_marks
    a, b, other = (policies.rules_of(name) for name in ("a", "b", "other"))
    assert (a.grace, str(a.due), a.late) == (15, "2026-11-07 12:00", other.late)
    assert (b.grace, str(b.due), b.late) == (0, "2026-11-06", None)
    assert other == policies.rules_of("default") and other.late is not None
    assert other.due is not None and other.due.lasts == timedelta(days=1)


def test_a_new_course_has_no_rule_about_marks(tmp_path: Path) -> None:
    course = Course.init(tmp_path, "T")
    assert course.rule_faults == () and not course.policies.touch_marks
    assert course.policies.timezone == "UTC"
