"""What the guides show of quizzes is true."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from engine.quiz.quiz_file import fill_in_text
from engine.quiz.rules import rules_text

DOCS = Path(__file__).parents[3] / "docs"


def test_the_blueprint_of_the_guide_can_be_drawn(classroom, grade) -> None:
    guide = (DOCS / "instructor-guide.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```yaml\n(title: .*?)^```", guide, re.DOTALL | re.MULTILINE)
    classroom.plan(block, "week3")
    assert grade("quiz", "new", "week3", "--course", "course").code == 0
    quiz = classroom.quiz("007", "week3")
    assert len(quiz.questions) == 6
    assert [q.number for q in quiz.questions if q.own_family] == [6]
    assert "`week3/question-6`" in guide
    head = fill_in_text(quiz).split("quiz:")[0]
    assert (
        all(f"# {sentence}\n" in head for sentence in rules_text(quiz.rules, on_file=True)) and "70 %" in head
    )
    page = classroom.file("007", "week3").with_suffix(".html").read_text(encoding="utf-8")
    assert "70 % and 40 % of its points" in page
    for handed_out in (head, page):
        assert "Each hint" not in handed_out and "comes with a new variant" not in handed_out
        assert "only the first counts" in handed_out


def test_every_key_of_a_blueprint_is_explained(classroom) -> None:
    from engine.quiz.blueprint import Blueprint, BlueprintSection

    guide = (DOCS / "instructor-guide.md").read_text(encoding="utf-8")
    keys = {*Blueprint.model_fields, *BlueprintSection.model_fields} - {"title", "sections"}
    assert {key for key in keys if f"`{key}`" not in guide} == set()


def test_the_rules_in_the_student_guide_are_those_of_the_practice_quiz(grade, typing) -> None:
    guide = (DOCS / "student-guide.md").read_text(encoding="utf-8")
    shown = guide.split("$ grade quiz take practice\n")[1].split("\n\n")[0]
    typing()
    said = grade("quiz", "take", "practice").out
    lines = [line.removeprefix("    ") for line in shown.splitlines()]
    assert lines == said.splitlines()[: len(lines)]
    assert "Question 1 of 7 · 2 points" in said
    document = yaml.safe_load(Path("practice-me.yaml").read_text(encoding="utf-8"))
    assert len(document["questions"]) == 7
