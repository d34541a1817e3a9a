"""An answer type from outside the engine is linted, drawn, graded and shown like any other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

import engine
from engine.answers import answer_kinds, register, right_response, unregister
from engine.answers.base import (
    AnswerJudgement,
    AnswerType,
    FieldContext,
    FieldDraft,
    FieldRenderer,
    PartSettings,
)
from engine.answers.typed_text import format_error
from engine.authoring.lint.lint_items import lint_item
from engine.commands import run
from engine.course import Course
from engine.draws import RandomStream
from engine.errors import SpecError
from engine.expressions.language import evaluate_number
from engine.items import builtin_bank
from engine.items.field_types import Expression, Real, StrictModel
from engine.model import Part, Quiz, QuizQuestion
from engine.pages.quiz import quiz_page
from engine.quiz.blueprint import read_blueprint

ITEM = """
id: between-squares
title: Between two bounds
source: {document: background}
difficulty: 1
bloom: apply
topics: [softmax]
parameters:
  a: {kind: integer, range: [11, 4000]}
stem: "Between which bounds, at most 1 apart, does the square root of {{ a }} lie?"
answer: {type: bounds, key: "sqrt(a)", width: 1}
hints: [Which squares lie below and above it?]
solution: "It is about ${{ num(sqrt(a), 2) }}$."
"""


class BoundsAnswer(StrictModel):
    """Two bounds around a number."""

    type: Literal["bounds"]
    key: Expression
    width: Real


@dataclass(frozen=True, slots=True)
class BoundsSettings(PartSettings):
    width: float = 1.0


class Bounds(AnswerType):
    """``3 to 4``: bounds that the key lies between, and that lie close enough together."""

    name = "bounds"
    spec = BoundsAnswer

    def draft(self, answer: Any, context: FieldContext) -> FieldDraft:
        key = f"{evaluate_number(answer.key, context.names):.4f}"

        def build(renderer: FieldRenderer, stream: RandomStream) -> Part:
            settings = BoundsSettings(width=float(answer.width)).as_json()
            return Part("", "bounds", 1.0, key_ids=(key,), settings=settings)

        return FieldDraft(None, ("bounds", key), build)

    def parse(self, text: str, part: Part) -> tuple[float, float]:
        match = re.fullmatch(r"\s*([0-9.]{1,9})\s*to\s*([0-9.]{1,9})\s*", text, re.IGNORECASE)
        if match is None:
            raise format_error("these aren't two bounds", text, expected="bounds such as 3 to 4")
        return float(match[1]), float(match[2])

    def judge(self, part: Part, answer: tuple[float, float]) -> AnswerJudgement:
        low, high = answer
        if not low <= float(part.key_ids[0]) <= high:
            return AnswerJudgement(0, "It doesn't lie between them.")
        is_close = high - low <= BoundsSettings.of(part).width
        return AnswerJudgement(1, "Right.") if is_close else AnswerJudgement(0.5, "They are too far apart.")

    def right_responses(self, part: Part) -> list[str]:
        low = int(float(part.key_ids[0]))
        return [f"{low} to {low + 1}"]

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        return [("1 to 2", None)]

    def blank_hint(self, part: Part) -> str:
        return "two bounds, such as 3 to 4"


@pytest.fixture
def item(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "between-squares.yaml"
    path.write_text(ITEM, encoding="utf-8")
    register(Bounds())
    yield path
    unregister("bounds")


def test_without_its_type_the_file_has_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "between-squares.yaml"
    path.write_text(ITEM, encoding="utf-8")
    with pytest.raises(SpecError, match="isn't one of single_choice"):
        engine.load_item(path)
    assert "bounds" not in answer_kinds()


def test_a_fault_in_its_fields_is_shown_with_its_place(item: Path) -> None:
    item.write_text(ITEM.replace("width: 1", "width: wide"), encoding="utf-8")
    with pytest.raises(SpecError) as refused:
        engine.load_item(item)
    (fault,) = refused.value.diagnostics
    assert fault.line == 11
    assert "number" in fault.message


def test_it_is_linted(item: Path) -> None:
    spec = engine.load_item(item).spec
    report = lint_item(spec, item, builtin_bank(), seeds=5)
    assert [f"{finding.rule}: {finding.message}" for finding in report.findings] == []


def test_it_is_drawn_and_graded(item: Path) -> None:
    variant = engine.draw(engine.load_item(item), seed=3)
    (part,) = variant.parts
    assert BoundsSettings.of(part) == BoundsSettings(width=1.0)
    assert engine.grade_answers(variant, right_response(part)).score == 1
    wide = engine.grade_answers(variant, "1 to 99")
    assert (wide.score, wide.checks[0].message) == (0.5, "They are too far apart.")
    unread = engine.grade_answers(variant, "about four")
    assert unread.score is None
    assert "bounds such as 3 to 4" in unread.checks[0].message


def test_it_is_shown_on_a_page_and_asked_for_by_a_blueprint(item: Path, tmp_path: Path) -> None:
    variant = engine.draw(engine.load_item(item), seed=3)
    quiz = Quiz("q", "week-1", "Week 1", "amy", (QuizQuestion(1, variant, 1.0),))
    assert "two bounds, such as 3 to 4" in quiz_page(quiz)
    plan = tmp_path / "week-1.yaml"
    plan.write_text("title: Week 1\nsections: [{count: 1, types: [bounds]}]\n", encoding="utf-8")
    assert read_blueprint(plan).blueprint.sections[0].types == ("bounds",)


def test_the_terminal_shows_and_grades_it(
    item: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOFTMARK_HOME", str(tmp_path / "home"))
    course = Course.init(tmp_path / "course", "Roots")
    (course.problems / item.name).write_text(ITEM, encoding="utf-8")
    at = ["--course", str(tmp_path / "course"), "--seed", "3"]
    assert run(["show", "between-squares", *at, "--solution"]) == 0
    shown = capsys.readouterr().out
    assert "Between which bounds" in shown
    key = re.search(r"Key of answer: (\d+ to \d+)", shown)
    assert key is not None, shown
    assert run(["submit", "between-squares", *at, "--answer", key[1], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "right"
