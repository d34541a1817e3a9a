"""The deadline, and what is shown before and after it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.quiz import rules as clock

BEFORE = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)
DEADLINE = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
AFTER = datetime(2026, 12, 1, 12, 0, 11, tzinfo=UTC)  # what was on its way counts for ten seconds


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch):
    """Set the time, or a row of times of which the last one stays."""

    def set_to(*moments: datetime) -> None:
        left = list(moments)
        monkeypatch.setattr(clock, "now", lambda: left.pop(0) if len(left) > 1 else left[0])

    return set_to


def week(classroom, grade, rules: str, items: str = "t-sum, t-pick") -> None:
    classroom.plan(f"title: W\ndeadline: 2026-12-01T13:00+01:00\n{rules}sections:\n- {{items: [{items}]}}\n")
    assert grade("quiz", "new", "week", "--course", "course").code == 0


LEVELS = {
    # what is in the output after one right and one wrong answer
    "nothing": set(),
    "score": {"Total: 1 of 2"},
    "verdict": {"Total: 1 of 2", "t-sum · 007: wrong"},
    "feedback": {"Total: 1 of 2", "t-sum · 007: wrong", "This is the difference."},
    "solution": {"Total: 1 of 2", "t-sum · 007: wrong", "This is the difference.", "Solution: The sum is"},
}
EVERYTHING = LEVELS["solution"]


def difference(classroom) -> str:
    drawn = classroom.variants("007", 1)[0].values
    return str(int(drawn["a"].entries[0]) - int(drawn["b"].entries[0]))


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_shows_what_it_says_and_no_more(classroom, grade, typing, at, level: str) -> None:
    week(classroom, grade, f"show_before: {level}\n")
    at(BEFORE)
    typing(difference(classroom), classroom.key("007", 2), "")
    said = grade("quiz", "take", classroom.file("007"))
    assert {text for text in EVERYTHING if text in said.out} == LEVELS[level]
    assert said.code == (0 if level == "nothing" else 1)
    if level == "nothing":
        assert "Handed in. Results are shown after Tue 1 Dec 2026, 13:00 UTC+01:00." in said.out


@pytest.mark.parametrize("level", LEVELS)
def test_a_file_handed_in_shows_no_more_either(classroom, grade, at, level: str) -> None:
    week(classroom, grade, f"show_before: {level}\n")
    at(BEFORE)
    answers = {1: difference(classroom), 2: classroom.key("007", 2)}
    path = classroom.answer_file("007", answers, "mine.yaml")
    said = grade("submit", path, "--course", "course")
    assert {text for text in EVERYTHING if text in said.out} == LEVELS[level]
    document = grade("submit", path, "--course", "course", "--json").json()
    assert ("score" in document) == (level != "nothing")
    assert len(document["reports"]) == (0 if level in ("nothing", "score") else 2)
    assert ("solutions" in document) == (level == "solution")
    if level == "verdict":
        assert all(r["diagnosis"] == [] and r["checks"][0]["message"] == "" for r in document["reports"])


def test_after_the_deadline_more_is_shown_and_nothing_more_is_taken(classroom, grade, typing, at) -> None:
    week(classroom, grade, "show_before: nothing\n")
    at(BEFORE)
    typing(difference(classroom), "", "yes")
    assert grade("quiz", "take", classroom.file("007")).code == 0
    text = classroom.file("007").read_text(encoding="utf-8").replace("answer: ''", "answer: a")
    classroom.file("007").write_text(text, encoding="utf-8")
    at(AFTER)
    typing("1", "a", "")
    said = grade("quiz", "take", classroom.file("007"))
    assert said.code == 1
    assert "This quiz was open until Tue 1 Dec 2026, 13:00 UTC+01:00." in said.out
    assert "Not handed in, so not counted: what" in said.out and "says to question 2" in said.out
    assert "Solution: The sum is" in said.out and "Total: 0 of 2 points" in said.out
    assert "answer:" not in said.out
    assert [item for item, _, _ in classroom.scores("007")] == ["t-sum", "t-pick"]  # the blank one, earlier


def test_the_deadline_passes_while_somebody_types(classroom, grade, typing, at) -> None:
    week(classroom, grade, "")
    right = classroom.key("007", 1)
    calls = [BEFORE] * 3  # is it over, the time left, after the first answer
    at(*calls, AFTER)
    typing(right, "a", "")
    said = grade("quiz", "take", classroom.file("007"))
    assert "The deadline has passed. What you answered before it is handed in." in said.out
    assert [(item, score) for item, score, _ in classroom.scores("007")] == [("t-sum", 1.0), ("t-pick", 0.0)]
    with_blank = classroom.file("007").read_text(encoding="utf-8")
    assert "answer: a" not in with_blank, "what came too late isn't taken"


def test_the_last_moment_is_in_time(classroom, grade, typing, at) -> None:
    week(classroom, grade, "")
    at(DEADLINE)
    typing(classroom.key("007", 1), classroom.key("007", 2), "")
    assert grade("quiz", "take", classroom.file("007")).code == 0


def test_no_solution_while_attempts_are_left(classroom, grade, typing, at) -> None:
    week(classroom, grade, "show_before: solution\nattempts: 2\n")
    at(BEFORE)
    typing("-1", classroom.key("007", 2), "", "1", "-2", "", "")
    said = grade("quiz", "take", classroom.file("007"))
    first, second = said.out.split("Another attempt is possible", 1)
    assert "Solution: The sum is" not in first, "a solution would give the second attempt away"
    assert "Solution: The sum is" in second


def test_the_offer_of_an_attempt_tells_no_verdict(classroom, grade, typing, at) -> None:
    week(classroom, grade, "show_before: nothing\ncredit: [1, 0.5]\n")
    at(BEFORE)
    typing(classroom.key("007", 1), classroom.wrong("007", 2), "", "")
    said = grade("quiz", "take", classroom.file("007"))
    assert "Another attempt is possible: 1 (at most 0.5 points), 2 (at most 0.5 points)" in said.out
    assert "best" not in said.out.split("Handed in.")[1]


def test_feedback_pages_keep_to_the_levels(classroom, grade, at) -> None:
    week(classroom, grade, "show_before: nothing\n")
    answers = {1: difference(classroom), 2: classroom.key("007", 2)}
    Path("in/007").mkdir(parents=True)
    classroom.answer_file("007", answers, "in/007/week.yaml")
    pages = {}
    for name, moment in (("before", BEFORE), ("after", AFTER)):
        at(moment)
        assert grade("batch", "in", "--course", "course", "--out", name).code == 0
        (page,) = Path(name, "students").glob("007*.html")
        pages[name] = page.read_text(encoding="utf-8")
        assert "1" in Path(name, "gradebook.csv").read_text().splitlines()[1], "the lecturer sees all"
    assert "aren't shown now" in pages["before"] and "This is the difference" not in pages["before"]
    assert "The sum is" not in pages["before"] and "points</p>" not in pages["before"]
    assert "This is the difference" in pages["after"] and "The sum is" in pages["after"]


def test_the_time_left_is_said(classroom, grade, typing, at) -> None:
    week(classroom, grade, "")
    at(DEADLINE - timedelta(hours=5, minutes=1))
    typing()
    said = grade("quiz", "take", classroom.file("007"))
    assert "Time left: 5 hours." in said.out
    assert "The quiz is open until Tue 1 Dec 2026, 13:00 UTC+01:00." in said.out


def test_the_dates_of_the_course_are_shown_beside_a_deadline(classroom, grade) -> None:
    classroom.plan("title: W\nsections:\n- {items: [t-sum]}\n")
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    assert "course.yaml" not in grade("quiz", "deadline", "week", "--course", "course").out
    path = Path("course/course.yaml")
    rules = "policies:\n  timezone: UTC\n  assignments:\n"
    rules += "    week: {due: 2026-11-06T18:00, closes: 2026-11-08T18:00}\n"
    rules += "  extensions:\n  - {student: '007', assignment: week, days: 2}\n"
    path.write_text(path.read_text(encoding="utf-8").partition("policies:")[0] + rules, encoding="utf-8")
    said = grade("quiz", "deadline", "week", "--course", "course")
    assert said.code == 0, said
    assert "due (course.yaml)" in said.out and "closes (course.yaml)" in said.out
    assert (
        "Fri 6 Nov 2026, 18:01" in said.out and "Sun 8 Nov 2026, 18:01" in said.out
    )  # to the end of that minute
    rows = {
        row["student"]: row
        for row in grade("quiz", "deadline", "week", "--course", "course", "--json").json()
    }
    assert rows["007"]["due"].startswith("2026-11-08T18:01")
    assert {row["deadline"] for row in rows.values()} == {None}
    assert len({row["due"] for row in rows.values()}) == 2
