"""Rules that can't be meant: each is found at its place, and rules in good order give none."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from engine.course import Course
from engine.marks.check import CourseFacts, find_contradictions
from engine.model import QuizRules

CET = timezone(timedelta(hours=1))
FACTS = CourseFacts(
    students=frozenset({"ada", "bob"}),
    code=frozenset({"softmax", "sdpa"}),
    quizzes=frozenset({"week-1", "week-2"}),
)
CLEAN = """\
title: T
policies:
  timezone: Europe/Berlin
  missing: zero
  late_days: 3
  marked_late: {days: 1}
  groups:
    quizzes: {weight: 40, drop_lowest: 1}
    code: {weight: 60}
  assignments:
    default: {grace: 15, late: {percent: 10}, release: at due, group: quizzes}
    week-1: {opens: 2026-11-01, due: 2026-11-06, closes: 2026-11-08, release: 2026-11-09}
    week-2: {due: 2026-11-13T18:00, attempts: {which: last}}
    softmax: {due: 2026-11-20, group: code}
  extensions:
    - {student: ada, assignment: week-1, days: 2}
    - {student: bob, due: 2026-11-21}
  excused:
    - {student: ada, assignment: week-2}
"""


def found(tmp_path: Path, text: str, facts: CourseFacts = FACTS) -> list[tuple[int, int, str]]:
    path = tmp_path / "course.yaml"
    Course.init(tmp_path, "T")
    path.write_text(text, encoding="utf-8")
    course = Course.open(tmp_path)
    assert course.rule_faults == ()
    return [(d.line, d.column, d.message) for d in find_contradictions(path, course.policies, facts)]


def test_rules_in_good_order_give_nothing(tmp_path: Path) -> None:
    assert found(tmp_path, CLEAN) == []
    assert found(tmp_path, "title: T\n") == []


@pytest.mark.parametrize(
    ("old", "new", "line", "shown_at", "message"),
    [
        (
            "closes: 2026-11-08",
            "closes: 2026-11-05",
            12,
            "2026-11-06",
            "due 2026-11-06, after it closes (2026-11-05): nobody can use the time in between",
        ),
        (
            "opens: 2026-11-01",
            "opens: 2026-11-07",
            12,
            "2026-11-07",
            "opens 2026-11-07, after it is due (2026-11-06)",
        ),
        (
            "release: 2026-11-09",
            "release: 2026-11-06",
            12,
            "2026-11-0",
            ("feedback is released 2026-11-06, before it is due (2026-11-06): whoever waits can use it"),
        ),
        (
            "release: 2026-11-09",
            "release: 2026-11-07",
            12,
            "2026-11-0",
            ("feedback is released 2026-11-07, before it closes (2026-11-08): whoever waits can use it"),
        ),
        (
            "which: last}",
            "which: last}, release: after closes",
            13,
            "after closes",
            "feedback is released after closes, but no `closes` is given: it is never shown",
        ),
        (
            "2026-11-13T18:00",
            "2026-10-25T02:30",
            13,
            "2026-10-25T02:30",
            "clocks are put back: they show 2026-10-25 02:30 twice, the later one counts",
        ),
        (
            "due: 2026-11-21",
            "due: 2027-03-28T02:30",
            17,
            "20",
            "clocks are put forward: there is no 2027-03-28 02:30 on this day, 03:30 counts",
        ),
        (
            "    softmax:",
            "    sofmax:",
            14,
            "s",
            "there is no quiz or code exercise 'sofmax'; did you mean 'softmax'?",
        ),
        (
            "student: ada, assignment: week-1",
            "student: eve, assignment: week-1",
            16,
            "eve",
            "there is no student 'eve' in the roster",
        ),
        (
            "assignment: week-1, days",
            "assignment: week-3, days",
            16,
            "week-3",
            "there is no quiz or code exercise 'week-3'; did you mean 'week-2'?",
        ),
        (
            "days: 2",
            "due: 2026-11-06",
            16,
            "2026-11-06",
            "2026-11-06 isn't after the due date of week-1 (2026-11-06): it changes nothing",
        ),
        (
            "assignment: week-1, days",
            "assignment: week-2, days",
            16,
            "{",
            "ada is excused from week-2: more time changes nothing",
        ),
        (
            "due: 2026-11-21",
            "due: 2026-11-06",
            17,
            "20",
            "2026-11-06 isn't after any due date: it changes nothing",
        ),
        (
            "ada, assignment: week-2",
            "ada, assignment: week-3",
            19,
            "week-3",
            "there is no quiz or code exercise 'week-3'; did you mean 'week-2'?",
        ),
        (
            "assignment: week-2}",
            "assignment: week-2}\n    - {student: ada, assignment: week-2}",
            20,
            "{",
            "ada is excused from week-2 twice",
        ),
        ("weight: 60", "weight: 50.5", 7, "groups", "the weights are 90.5 together, not 100"),
        ("weight: 60", "drop_lowest: 1", 9, "1", "1 of 1 is dropped: one is always kept"),
        ("group: code}", "group: cod}", 14, "cod}", "there is no group 'cod'; did you mean 'code'?"),
        (
            "group: code}",
            "group: null}",
            14,
            "s",
            "groups have weights and this is in none: it doesn't count towards the percentage",
        ),
        (
            "late: {percent: 10}, ",
            "",
            5,
            "late_days",
            "late work loses nothing anywhere: late days change nothing",
        ),
        (
            "due: 2026-11-20, ",
            "",
            14,
            "s",
            "missing work counts as 0 once it is due, and this has no `due`: it stays blank",
        ),
        ("due: 2026-11-20, ", "late: {percent: 5}, ", 14, "{percent", "nothing is late without a `due` date"),
    ],
)
def test_what_cant_be_meant(
    tmp_path: Path, old: str, new: str, line: int, shown_at: str, message: str
) -> None:
    assert CLEAN.count(old) == 1
    text = CLEAN.replace(old, new)
    places = [(at, column) for at, column, told in found(tmp_path, text) if told == message]
    assert [at for at, _ in places] == [line]
    assert text.splitlines()[line - 1][places[0][1] - 1 :].startswith(shown_at)


def test_whoever_has_no_due_date_needs_no_extension(tmp_path: Path) -> None:
    text = "title: T\npolicies:\n  extensions:\n    - {student: ada, days: 1}\n"
    assert found(tmp_path, text) == [(4, 7, "no assignment has a due date: more time changes nothing")]
    text = text.replace("days", "assignment: sdpa, days")
    assert found(tmp_path, text) == [(4, 7, "sdpa has no due date: more time changes nothing")]


QUIZ = (
    "title: T\npolicies:\n  timezone: Europe/Berlin\n"
    "  assignments:\n    week-1: {due: 2026-11-06, closes: 2026-11-08}\n"
)
MORE = "  extensions:\n    - {student: ada, assignment: week-1, days: 1}\n"


@pytest.mark.parametrize(
    ("deadlines", "more", "messages"),
    [
        ({"ada": None}, "", []),
        # 23:59 is meant to be the end of the day, and the closing time is the last one.
        ({"ada": datetime(2026, 11, 6, 23, 59, tzinfo=CET)}, "", []),
        ({"ada": datetime(2026, 11, 9, 0, 0, tzinfo=CET)}, "", []),
        (
            {"": datetime(2026, 11, 6, 12, tzinfo=CET)},
            "",
            ["due 2026-11-06 here, but the quiz itself is open until 2026-11-06 12:00"],
        ),
        (
            {"ada": datetime(2026, 11, 7, 12, tzinfo=CET), "bob": datetime(2026, 11, 6, 23, 59, tzinfo=CET)},
            "",
            ["due 2026-11-06 here, but the quiz itself is open until 2026-11-07 12:00 for 1 of 2 students"],
        ),
        (
            {name: datetime(2026, 11, 6, 23, 59, tzinfo=CET) for name in ("ada", "bob")},
            MORE,
            [],  # more time in the course is more time for the quiz
        ),
        ({"ada": datetime(2026, 11, 7, 23, 59, tzinfo=CET)}, MORE, []),
    ],
)
def test_a_quizs_own_deadline_is_compared(
    tmp_path: Path, deadlines: dict[str, datetime | None], more: str, messages: list[str]
) -> None:
    rules = {student: QuizRules(deadline=deadline) for student, deadline in deadlines.items()}
    facts = CourseFacts(FACTS.students, FACTS.code, FACTS.quizzes, {"week-1": rules})
    assert found(tmp_path, QUIZ + more, facts) == [(5, 19, message) for message in messages]


def test_credit_that_falls_twice_is_told(tmp_path: Path) -> None:
    rules = {"ada": QuizRules(attempts=2, credit=(1.0, 0.5))}
    facts = CourseFacts(FACTS.students, FACTS.code, FACTS.quizzes, {"week-1": rules})
    text = "title: T\npolicies:\n  assignments:\n    week-1: {attempts: {which: average}}\n"
    assert found(tmp_path, text, facts) == [
        (4, 24, "the quiz gives later attempts less, and `which: average` does so again")
    ]
    assert found(tmp_path, text.replace("average", "best"), facts) == []
