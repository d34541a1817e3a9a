"""A quiz that was drawn stays as it was drawn, whatever becomes of items, roster and blueprint."""

from __future__ import annotations

from pathlib import Path

import pytest

PLAN = "title: W\nsections:\n- {items: [t-sum]}\n- {count: 1, topics: [t-choices], points: 3}\n"


@pytest.fixture
def week(classroom, grade):
    classroom.plan(PLAN)
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    return classroom


def files(week) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted((week.folder / "quizzes/week").iterdir())}


def change_item(week) -> None:
    path = week.folder / "problems/t-sum.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("key: a + b", "key: a + b + 1000").replace("Add {{ a }}", "Sum up {{ a }}"))


def test_a_corrected_item_changes_no_quiz_that_was_drawn(week, grade) -> None:
    before, quiz = files(week), week.quiz("007")
    change_item(week)
    said = grade("quiz", "new", "week", "--course", "course")
    assert said.code == 0, said
    assert "note: t-sum has changed since quiz week was drawn; it stays as it was" in said.err
    assert "next: grade regrade t-sum --dry-run" in said.err
    assert files(week) == before and week.quiz("007") == quiz
    # marked as it was drawn: the sum, and not the sum plus 1000
    path = week.answer_file("007", {1: week.key("007", 1), 2: week.key("007", 2)}, "mine.yaml")
    assert int(week.key("007", 1)) < 1000
    assert grade("submit", path, "--course", "course").code == 0
    key = grade("quiz", "key", "week", "--student", "007", "--course", "course", "--json").json()
    assert [q["item_changed_since"] for q in key[0]["questions"]] == [True, False]
    assert key[0]["questions"][0]["parts"][0]["key"] == week.key("007", 1)


def test_who_comes_later_gets_the_items_of_the_class(week, grade) -> None:
    items = [q.variant.item for q in week.quiz("007").questions]
    change_item(week)
    # more items match by now, so that the plan alone would choose otherwise for some secrets
    for number in range(20):
        text = (week.folder / "problems/t-only.yaml").read_text(encoding="utf-8")
        (week.folder / f"problems/t-extra-{number}.yaml").write_text(
            text.replace("id: t-only", f"id: t-extra-{number}")
        )
    with (week.folder / "roster.csv").open("a", encoding="utf-8") as roster:
        roster.write("late,Ada\n")
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    late = week.quiz("late")
    assert [q.variant.item for q in late.questions] == items
    assert [q.points for q in late.questions] == [1, 3]
    assert late.questions[0].variant.stem.plain.startswith("Sum up"), "of the item as it is now"
    assert week.quiz("007").questions[0].variant.stem.plain.startswith("Add")


def test_a_changed_blueprint_changes_nothing_and_says_so(week, grade) -> None:
    before = files(week)
    week.plan("title: Other\ncredit: [1, 0.1]\nsections:\n- {items: [t-only]}\n")
    said = grade("quiz", "new", "week", "--course", "course")
    assert said.code == 0
    assert "was drawn from another state of this blueprint and stays as it was" in said.err
    assert files(week) == before
    assert grade("quiz", "new", "week", "--course", "course", "--name", "other").code == 0
    assert [q.variant.item for q in week.quiz("007", "other").questions] == ["t-only"]


def test_an_own_item_that_lint_finds_at_fault_is_said_when_it_is_drawn(week, grade) -> None:
    path = week.folder / "problems/t-sum.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("The sum is", "As 2 + 2 = 5, the sum is"), encoding="utf-8")
    (fault, *_) = grade("lint", "t-sum", "--course", "course", "--json").json()[0]["findings"]
    assert fault["severity"] == "error"
    said = grade("quiz", "new", "week", "--course", "course", "--name", "other")
    assert said.code == 0 and "warning: t-sum is in this quiz and has " in said.err
    assert fault["message"] in said.err and "t-only" not in said.err
    again = grade("quiz", "new", "week", "--course", "course", "--name", "other")
    assert again.err == "", "what was drawn was told then"


def test_layout_and_comments_are_no_change(week, grade) -> None:
    week.plan("# week 1\n" + PLAN.replace("title: W", 'title:   "W"'))
    assert grade("quiz", "new", "week", "--course", "course").err == ""


def test_an_item_that_is_gone_spoils_no_drawn_quiz(week, grade, typing) -> None:
    keys = [week.key("007", 1), week.key("007", 2)]
    (week.folder / "problems/t-sum.yaml").unlink()
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    typing(*keys, "")
    assert grade("quiz", "take", week.file("007")).code == 0
    key = grade("quiz", "key", "week", "--course", "course")
    assert key.code == 0 and "another version of this item now" in key.out


def test_families_per_student_need_the_blueprint_as_it_was(classroom, grade) -> None:
    plan = "title: W\nsections:\n- {count: 1, topics: [t-choices], points: 1, per_student: true}\n"
    classroom.plan(plan)
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    with (classroom.folder / "roster.csv").open("a", encoding="utf-8") as roster:
        roster.write("late,Ada\n")
    classroom.plan(plan.replace("t-choices", "t-numbers"))
    said = grade("quiz", "new", "week", "--course", "course")
    assert said.code == 2 and "isn't the one that quiz week was drawn from" in said.err
    classroom.plan(plan)
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    assert len(classroom.quiz("late").questions) == 1


def test_two_ids_that_files_cannot_tell_apart(classroom, grade) -> None:
    classroom.plan(PLAN)
    (classroom.folder / "roster.csv").write_text("id\na b\na_b\nA_B\n", encoding="utf-8")
    assert grade("quiz", "new", "week", "--course", "course").code == 0
    written = sorted(Path("course/quizzes/week").glob("*.yaml"))
    assert len({path.name.casefold() for path in written}) == 3
    texts = [path.read_text(encoding="utf-8") for path in written]
    assert all(
        sum(f"student: {student}\n" in text for text in texts) == 1 for student in ("a b", "a_b", "A_B")
    )
