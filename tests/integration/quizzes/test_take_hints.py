"""Hints in a quiz: their cost is said before, written down at once, and never lowers what was earned."""

from __future__ import annotations

from pathlib import Path

import pytest

PLAN = "title: W\ncredit: [1, 0.5]\nhint_cost: 0.2\nsections:\n- {items: [t-sum], points: 2}\n"


@pytest.fixture
def week(classroom, grade):
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    return classroom


def test_the_cost_is_said_before_a_hint_is_given(week, grade, typing) -> None:
    typing("?", "n", "?", "y", week.key("007", 1), "")
    said = grade("quiz", "take", week.file("007"))
    assert said.code == 0, said
    assert "(? for a hint: 2 left)" in said.out
    offer = "Hint 1 of 2: with it this attempt can earn at most 1.6 instead of 2 points. Take it?"
    assert said.out.count(offer) == 2
    assert said.out.count("Hint 1 of 2: Begin with the ones.") == 1
    assert said.out.index(offer) < said.out.index("Begin with the ones.")
    assert "This counts 80 % (1 hint taken)." in said.out
    assert "Total: 1.6 of 2 points" in said.out


def test_what_is_neither_yes_nor_no_is_asked_again(week, grade, typing) -> None:
    typing("?", "maybe", "YES", week.key("007", 1), "")
    said = grade("quiz", "take", week.file("007"))
    assert "this is neither yes nor no\n  next: type y for yes, n or Enter for no" in said.out
    assert "Error" not in said.out + said.err and "This counts 80 % (1 hint taken)." in said.out


def test_a_hint_that_is_declined_costs_nothing(week, grade, typing) -> None:
    typing("?", "", week.key("007", 1), "")
    said = grade("quiz", "take", week.file("007"))
    assert "Begin with the ones" not in said.out
    assert "Total: 2 of 2 points" in said.out


def test_a_hint_stays_taken_after_a_stop(week, grade, typing) -> None:
    typing("?", "y")  # the end of the input is a stop
    assert grade("quiz", "take", week.file("007")).code == 1
    typing(week.key("007", 1), "")
    said = grade("quiz", "take", week.file("007"))
    assert "now at most 1.6 points" in said.out
    assert "Hint 1: Begin with the ones." in said.out, "what was paid for is shown again"
    assert "(? for a hint: 1 left)" in said.out
    assert "Total: 1.6 of 2 points" in said.out


def test_a_hint_counts_for_files_too(week, grade, typing) -> None:
    typing("?", "y")
    grade("quiz", "take", week.file("007"))
    path = week.answer_file("007", {1: week.key("007", 1)}, "mine.yaml")
    result = grade("submit", path, "--course", "course", "--json").json()
    assert (result["score"], result["reports"][0]["credit"]) == (1.6, 0.8)


def test_hints_and_attempts_multiply_and_what_was_earned_stays(week, grade, typing) -> None:
    typing("-1", "", "1", "?", "y", "?", "y", "?", week.key("007", 1), "", "")
    said = grade("quiz", "take", week.file("007"))
    assert "at most 0.8 instead of 1 point." in said.out
    assert "That was the last hint." in said.out
    assert "Total: 0.6 of 2 points" in said.out
    assert week.scores("007")[-1] == ("t-sum", 0.6, 0.3)


def test_hints_can_be_free(classroom, grade, typing) -> None:
    classroom.plan("title: W\nhint_cost: 0\nsections:\n- {items: [t-sum, t-only]}\n")
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    typing("?", classroom.key("007", 1), "?", classroom.key("007", 2), "")
    said = grade("quiz", "take", classroom.file("007"))
    assert "Hints are free." in said.out and "Take it?" not in said.out
    assert "Hint 1 of 2: Begin with the ones." in said.out
    assert "This question has no hints." in said.out
    assert "Total: 2 of 2 points" in said.out


def test_a_quiz_without_hints_gives_none(classroom, grade, typing) -> None:
    classroom.plan("title: W\nsections:\n- {items: [t-sum]}\n")
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    typing("?", classroom.key("007", 1), "")
    said = grade("quiz", "take", classroom.file("007"))
    assert "This quiz gives no hints." in said.out
    assert "Begin with the ones" not in said.out
    assert said.code == 0


def test_practice_and_marks_have_hints_and_attempts_of_their_own(week, grade, typing) -> None:
    settings = Path("course/course.yaml")
    marks = settings.read_text(encoding="utf-8")
    settings.write_text(marks.replace("mode: marks", "mode: practice"), encoding="utf-8")
    typing("?", "y", "-1", "", "")
    grade("quiz", "take", week.file("007"))
    settings.write_text(marks, encoding="utf-8")
    assert week.scores("007") == [("t-sum", 0.0, 0.8)]
    path = week.answer_file("007", {1: week.key("007", 1)}, "mine.yaml")
    result = grade("submit", path, "--course", "course", "--json").json()
    assert result["score"] == 2, "neither the hint nor the attempt of practice counts here"
