"""``grade quiz new`` where files are already, and ``grade quiz deadline``."""

from __future__ import annotations

from pathlib import Path

import pytest

PLAN = "title: W\ndeadline: 2000-01-01T12:00Z\nsections:\n- {items: [t-sum]}\n"


@pytest.fixture
def week(classroom, grade):
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    return classroom


def test_a_file_with_answers_stays_as_it_is(week, grade) -> None:
    text = week.file("007").read_text(encoding="utf-8").replace("answer: ''", "answer: 42")
    week.file("007").write_text(text, encoding="utf-8")
    with (week.folder / "roster.csv").open("a", encoding="utf-8") as roster:
        roster.write("late,Ada\n")
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    assert week.file("007").read_text(encoding="utf-8") == text
    assert week.file("late").is_file()


def test_another_quizs_file_is_never_overwritten(week, grade) -> None:
    week.file("007").write_text("quiz: other\nmine: true\n", encoding="utf-8")
    said = grade("quiz", "new", "week", "--course", "course")
    assert said.code == 2 and "another quiz's file is there already" in said.err
    assert week.file("007").read_text(encoding="utf-8") == "quiz: other\nmine: true\n"


@pytest.mark.parametrize("name", ["..", ".", "a/b", "", " ", "x" * 101, "a\nb"])
def test_a_quiz_needs_a_name_that_a_folder_can_have(week, grade, name: str) -> None:
    said = grade("quiz", "new", "week", "--course", "course", "--name", name)
    if name == "":  # the same as no --name
        assert said.code == 0
        return
    assert said.code == 2 and "can't be the name of a quiz" in said.err


def test_a_blueprints_own_name_is_checked_too(week, grade) -> None:
    Path("...yaml").write_text(PLAN, encoding="utf-8")
    said = grade("quiz", "new", "...yaml", "--course", "course")
    assert said.code == 2 and "give it another one with --name" in said.err


def test_a_deadline_can_be_moved_for_one(week, grade, typing) -> None:
    shown = grade("quiz", "deadline", "week", "--course", "course")
    assert shown.code == 0
    assert shown.out.splitlines()[1].split() == [
        "Sat",
        "1",
        "Jan",
        "2000,",
        "12:00",
        "UTC",
        "over",
        "2",
        "007,",
        "s2",
    ]
    said = grade(
        "quiz", "deadline", "week", "2999-01-01T12:00+01:00", "--student", "007", "--course", "course"
    )
    assert said.code == 0 and "Tue 1 Jan 2999, 12:00 UTC+01:00" in said.out and "s2" not in said.out
    typing(week.key("007", 1), "")
    assert grade("quiz", "take", week.file("007")).code == 0
    typing("1", "")
    assert "This quiz was open until Sat 1 Jan 2000, 12:00 UTC." in grade("quiz", "take", week.file("s2")).out
    # who comes later gets the deadline that most have, and the questions stay as they were
    before = week.quiz("007").questions
    with (week.folder / "roster.csv").open("a", encoding="utf-8") as roster:
        roster.write("a-late-one,Ada\nb-late-one,Alan\n")
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    assert week.quiz("b-late-one").rules == week.quiz("s2").rules
    assert week.quiz("007").questions == before


def test_a_deadline_can_be_taken_away_for_all(week, grade) -> None:
    assert grade("quiz", "deadline", "week", "none", "--course", "course").code == 0
    assert {week.quiz(student).rules.deadline for student in ("007", "s2")} == {None}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["week", "tomorrow"], "a time with its zone"),
        (["week", "2026-12-01T12:00"], "has no zone"),
        (["none-such"], "expected: a quiz that was drawn: week"),
        (["week", "2026-12-01T12:00Z", "--student", "nobody"], "for nobody"),
    ],
)
def test_a_deadline_that_cannot_be_set(week, grade, arguments: list[str], words: str) -> None:
    said = grade("quiz", "deadline", *arguments, "--course", "course")
    assert said.code == 2 and words in said.err
    assert "Sat 1 Jan 2000" in grade("quiz", "deadline", "week", "--course", "course").out
