"""`grade coverage`: the syllabus, the items that cover it, and its gaps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ITEM = """\
id: weights-sum
title: What weights sum to
source: {document: S2, file: 002_d49dd57be4939f51.txt, section: "3"}
difficulty: 1
bloom: remember
topics: [softmax]
variants: 1
covers: [our-idea, S2-weights]
stem: What do the weights of one step sum to?
answer: {type: token, accepted: ["1"]}
errata:
  - {id: D-10, kind: notation, note: The lectures name the length differently.}
"""
SYLLABUS = """\
ours:
  our-idea: {title: an idea of our own, where: week 3}
  our-gap: {title: an idea without an item}
  our-choice: {title: an idea on purpose without one, no_item: It's shown in class.}
"""


@pytest.fixture
def course(grade) -> Path:
    assert grade("init", "course").code == 0
    problems = Path("course/problems")
    (problems / "weights-sum.yaml").write_text(ITEM, encoding="utf-8")
    (problems / "syllabus.yaml").write_text(SYLLABUS, encoding="utf-8")
    return problems


def entries(grade, *options: str) -> dict[str, dict]:
    return {e["id"]: e for e in json.loads(grade("coverage", "--json", "--course", "course", *options).out)}


def test_a_courses_own_syllabus_adds_to_the_built_in_one(grade, course):
    found = entries(grade)
    assert found["our-idea"]["items"] == ["weights-sum"]
    assert found["our-idea"]["where"] == "week 3"
    assert "weights-sum" in found["S2-weights"]["items"]
    assert "weights-sum" in found["D-10"]["items"]  # an erratum counts by itself
    assert [found[name]["gap"] for name in ("our-idea", "our-gap", "our-choice")] == [False, True, False]


def test_gaps_are_shown_and_give_the_exit_code(grade, course):
    said = grade("coverage", "--gaps", "--course", "course")
    assert said.code == 1
    assert "our-gap" in said.out
    assert "our-choice" not in said.out
    assert "our-idea" not in said.out
    (course / "syllabus.yaml").write_text(
        SYLLABUS.replace("  our-gap: {title: an idea without an item}\n", "")
    )
    assert "our-gap" not in entries(grade)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("title: an idea without an item", "titel: x", "syllabus.yaml:3"),
        ("ours:", "ours: [", "syllabus.yaml:"),
        ("our-gap:", "our gap:", "syllabus.yaml:3"),
    ],
)
def test_a_faulty_syllabus_is_refused_with_its_place(grade, course, old, new, place):
    (course / "syllabus.yaml").write_text(SYLLABUS.replace(old, new), encoding="utf-8")
    said = grade("coverage", "--course", "course")
    assert said.code == 2
    assert place in said.err


@pytest.mark.parametrize(
    ("covers", "message"),
    [
        ("[our-ideas]", "the syllabus has no entry 'our-ideas'; did you mean 'our-idea'?"),
        ("[our-idea, our-idea]", "the entry 'our-idea' appears here twice"),
        ("[S3-weights]", "the item says to cover S3-weights and doesn't cite S3"),
    ],
)
def test_lint_knows_what_can_be_covered(grade, course, covers, message):
    path = course / "weights-sum.yaml"
    path.write_text(ITEM.replace("[our-idea, S2-weights]", covers), encoding="utf-8")
    said = grade("lint", "weights-sum", "--course", "course")
    assert said.code == 1
    assert message in said.out
    assert "weights-sum.yaml:8" in said.out


def test_lint_passes_what_is_covered(grade, course):
    said = grade("lint", "weights-sum", "--course", "course")
    assert (said.code, "0 errors" in said.out) == (0, True)
