"""Rules that the site and the command line share: publishing, allowances, time limits, what is shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.commands.context import find_context
from engine.course import Course
from engine.marks.site_quizzes import site_quiz
from engine.model import Mode
from engine.store.drafts import DraftField
from engine.store.student_requests import RequestKind
from tests.timing import clock_from

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
COURSE = ("--course", "course")
PLAN = "title: Week\n{}sections:\n  - items: [t-sum, t-pick]\n    points: 1\n"


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch):
    return clock_from(monkeypatch, NOW)


@pytest.fixture
def drawn(classroom, grade, at):
    def draw(rules: str = "", plan: str | None = None) -> None:
        classroom.plan(plan or PLAN.format(rules))
        assert grade("quiz", "new", "week", *COURSE).code == 0

    return draw


def test_a_quiz_is_published_and_withdrawn(drawn, grade) -> None:
    drawn()
    assert grade("course", "student", "007", *COURSE).out.startswith("nothing yet")
    assert "week is on the site since" in grade("quiz", "publish", "week", *COURSE).out
    assert "week" in grade("quiz", "publish", *COURSE).out
    (entry,) = grade("course", "student", "007", "--json", *COURSE).json()
    assert (entry["assignment"], entry["state"], entry["open"]) == ("week", "open", True)
    assert "no longer on the site" in grade("quiz", "publish", "week", "--withdraw", *COURSE).out
    assert grade("quiz", "publish", "nothing", *COURSE).code == 2
    assert grade("course", "student", "nobody", *COURSE).code == 2


def test_an_allowance_moves_a_quizs_own_deadline_and_is_taken_back(drawn, classroom, grade) -> None:
    drawn("deadline: 2026-11-03T23:59+00:00\n")
    settings = classroom.folder / "course.yaml"
    settings.write_text(
        settings.read_text(encoding="utf-8") + "  assignments:\n    week: {due: 2026-11-03}\n",
        encoding="utf-8",
    )
    said = grade("course", "allow", "007", "week", "--days", "2", "--reason", "ill", "--by", "prof", *COURSE)
    assert said.code == 0 and "007, week: 2 extra days" in said.out
    grade("quiz", "publish", "week", *COURSE)
    (entry,) = grade("course", "student", "007", "--json", *COURSE).json()
    assert entry["due"].startswith("2026-11-06T00:00") and entry["extended"]
    assert entry["ends"].startswith("2026-11-06T00:00")
    listed = grade("course", "allowances", "--student", "007", *COURSE).out
    assert "2 extra days" in listed and "ill" in listed and "prof" in listed
    dates = {
        row["student"]: row["due"] for row in grade("quiz", "deadline", "week", "--json", *COURSE).json()
    }
    assert dates["007"].startswith("2026-11-06") and dates["s2"].startswith("2026-11-04")
    assert grade("course", "withdraw", "1", *COURSE).code == 0
    (entry,) = grade("course", "student", "007", "--json", *COURSE).json()
    assert entry["due"].startswith("2026-11-04") and not entry["extended"]
    assert grade("course", "allowances", *COURSE).out.startswith("no allowances here")
    assert "withdrawn" in grade("course", "allowances", "--history", *COURSE).out


@pytest.mark.parametrize(
    "arguments",
    [
        ("007", "week"),
        ("007", "week", "--days", "2", "--excuse"),
        ("007", "--excuse"),
        ("007", "week", "--due", "2026-02-30"),
        ("070", "week", "--days", "2"),
        ("007", "weak", "--days", "2"),
    ],
)
def test_what_cannot_be_meant_is_not_allowed(drawn, grade, arguments: tuple[str, ...]) -> None:
    drawn()
    said = grade("course", "allow", *arguments, *COURSE)
    assert said.code == 2 and "Traceback" not in said.err
    assert grade("course", "allowances", "--json", *COURSE).json() == []


def test_the_check_reports_allowances_without_effect(drawn, grade) -> None:
    drawn()
    grade("course", "allow", "007", "week", "--days", "2", *COURSE)
    said = grade("course", "check", *COURSE)
    assert said.code == 1
    assert "allowance 1: week has no due date: more time changes nothing" in said.out


def test_more_time_moves_a_deadline_that_only_the_quiz_has(drawn, grade) -> None:
    drawn("deadline: 2026-11-03T23:59+00:00\n")
    grade("quiz", "publish", "week", *COURSE)
    grade("course", "allow", "007", "week", "--days", "3", *COURSE)
    (entry,) = grade("course", "student", "007", "--json", *COURSE).json()
    assert entry["ends"].startswith("2026-11-06T23:59") and entry["extended"]
    (entry,) = grade("course", "student", "s2", "--json", *COURSE).json()
    assert entry["ends"].startswith("2026-11-03T23:59")
    assert "changes nothing" not in grade("course", "check", *COURSE).out
    grade("course", "allow", "s2", "week", "--due", "2026-11-02", *COURSE)
    assert (
        "2026-11-02 isn't after the end of week (2026-11-03 23:59)" in grade("course", "check", *COURSE).out
    )


def test_more_time_moves_a_closing_time_without_a_due_date(drawn, classroom, grade) -> None:
    drawn()
    settings = classroom.folder / "course.yaml"
    settings.write_text(
        settings.read_text(encoding="utf-8") + "  assignments:\n    week: {closes: 2026-11-03}\n",
        encoding="utf-8",
    )
    grade("quiz", "publish", "week", *COURSE)
    grade("course", "allow", "007", "week", "--days", "3", *COURSE)
    (entry,) = grade("course", "student", "007", "--json", *COURSE).json()
    assert entry["due"] is None and entry["ends"].startswith("2026-11-06T23:59") and entry["extended"]
    assert "changes nothing" not in grade("course", "check", *COURSE).out


def test_what_was_saved_on_the_site_is_handed_in_at_the_end(drawn, classroom, grade, at) -> None:
    drawn("time_limit: 45\n")
    course = Course.open(classroom.folder)
    with course.open_store() as store:
        quiz = site_quiz(
            store, classroom.quiz("007"), course.policies, bank=course.bank(), mode=Mode.MARKS,
            secret=course.secret,
        )  # fmt: skip
        quiz.begin()
        quiz.save([DraftField(1, "answer", classroom.key("007", 1), 0)])
    assert "0 sittings handed in" in grade("quiz", "close", "week", *COURSE).out
    at(NOW + timedelta(minutes=46))
    said = grade("quiz", "close", "week", "--json", *COURSE)
    assert said.code == 0 and said.json() == {"quiz": "week", "handed_in": ["007"], "faults": []}
    assert [(item, score) for item, score, _ in classroom.scores("007")] == [("t-sum", 1.0), ("t-pick", 0.0)]
    assert "0 sittings handed in" in grade("quiz", "close", "week", *COURSE).out


def test_time_runs_in_the_terminal_too(drawn, classroom, grade, typing, at) -> None:
    drawn("time_limit: 45\n")
    typing("n")
    file = classroom.file("007")
    assert grade("quiz", "take", file).code == 1
    typing("y", classroom.key("007", 1), classroom.key("007", 2), "")
    said = grade("quiz", "take", file)
    assert said.code == 0
    assert "You have 45 minutes from when you start" in said.out
    assert "The time is over Mon 2 Nov 2026, 09:45 UTC." in said.out
    at(NOW + timedelta(minutes=46))
    assert "This quiz was open until Mon 2 Nov 2026, 09:45 UTC." in grade("quiz", "take", file).out
    assert "0 sittings handed in" in grade("quiz", "close", "week", *COURSE).out, "the file was handed in"


MIXED = """title: Week
{}attempts: 2
sections:
  - {{items: [t-sum], points: 1}}
  - {{items: [t-pick], points: 1, show_before: nothing}}
"""


def levels() -> dict[str, str]:
    """Return what the pages of 007 show of each item."""
    context = find_context(Path("course"))
    with context.open_store() as store:
        (results,) = context.results(store, only=["007"])
    return {item.column.item: str(item.disclosure) for item in results.items}


def test_one_question_is_hidden_and_the_other_shown(drawn, classroom, grade, typing, at) -> None:
    drawn(plan=MIXED.format("deadline: 2026-11-03T23:59+00:00\n"))
    typing("-1", classroom.wrong("007", 2), "", "")
    said = grade("quiz", "take", classroom.file("007"))
    assert "Question 1\n" in said.out and "Question 2\n" not in said.out
    assert "Total" not in said.out, "a total would tell what the hidden question earned"
    assert levels() == {"t-sum": "feedback", "t-pick": "nothing"}
    at(NOW + timedelta(days=3))
    over = grade("quiz", "take", classroom.file("007")).out
    assert "Question 2\n" in over and "Total: 0 of 2 points" in over
    assert levels() == {"t-sum": "solution", "t-pick": "solution"}


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("", "without a `deadline` there is no afterwards"),
        ("deadline: 2026-11-03T23:59+00:00\nshow_before: solution\n", "has shown already"),
    ],
)
def test_a_section_that_shows_less_later_is_refused_at_its_line(
    classroom, grade, rules: str, message: str
) -> None:
    classroom.plan(f"title: W\n{rules}sections:\n  - items: [t-sum]\n    show_after: score\n")
    said = grade("quiz", "new", "week", *COURSE)
    assert said.code == 2 and message in said.err
    assert f"week.yaml:{4 + rules.count(chr(10))}:" in said.err


def test_a_request_is_listed_and_granted(drawn, classroom, grade) -> None:
    drawn()
    with Course.open(classroom.folder).open_store() as store:
        store.requests.ask("007", RequestKind.EXTENSION, "week", "I was ill.", NOW)
        store.requests.ask("s2", RequestKind.REGRADE, "week/t-sum", "Why?", NOW)
    assert "I was ill." in grade("course", "requests", *COURSE).out
    decide = ("course", "decide", "1", "--answer", "Get well.", "--by", "prof", *COURSE)
    for bad in ((), ("--grant",), ("--refuse", "--days", "2"), ("--grant", "--due", "2026-02-30")):
        assert grade(*decide, *bad).code == 2
    said = grade(*decide, "--grant", "--days", "3")
    assert said.code == 0 and "1: granted" in said.out
    assert grade(*decide, "--refuse").code == 2, "decided is decided"
    (allowance,) = grade("course", "allowances", "--json", *COURSE).json()
    assert (allowance["student"], allowance["days"], allowance["reason"]) == ("007", 3, "request 1")
    assert grade("course", "decide", "2", "--grant", "--answer", "We look again.", *COURSE).code == 0
    assert grade("course", "requests", *COURSE).out.startswith("no open requests")
    assert len(grade("course", "requests", "--all", "--json", *COURSE).json()) == 2
