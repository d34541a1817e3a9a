"""What people wrote, on pages: rubrics as far as they may be seen, and comments beside lines of code."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from engine.answers.free_text import rubric_digest
from engine.grading import grade_answers
from engine.marks.class_table import ItemResult, StudentResults, TableColumn
from engine.model import GradeReport, Mode, Outcome, Response, ResultDisclosure, RubricMarks, Variant
from engine.pages.feedback import feedback_page
from engine.pages.marker_remarks import commented_files
from engine.store import CodeComment
from tests.unit.marks.free_text_class import item_variant

NOW = datetime(2026, 11, 2, tzinfo=UTC)
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def variant(tmp_path_factory: pytest.TempPathFactory) -> Variant:
    return item_variant(tmp_path_factory.mktemp("item"))


def page(variant: Variant, report: GradeReport, level: ResultDisclosure) -> str:
    column = TableColumn("week", 1, "why-weights", "Why", 4.0)
    item = ItemResult(
        column, report, "0" * 64, NOW, variant, {"total": "1", "reason": EVIL}, disclosure=level
    )
    return feedback_page(StudentResults("amy", "Amy", (item,)), title="T")


@pytest.fixture
def marked(variant: Variant) -> GradeReport:
    marks = RubricMarks(
        "reason", {"softmax": 0.5, "division": 2.0}, "prof", NOW, rubric_digest(variant.parts[1]),
        {"softmax": f"which one? {EVIL}"}, "Good.",
    )  # fmt: skip
    response = Response({"total": "1", "reason": EVIL})
    return grade_answers(variant, response, mode=Mode.MARKS, student="amy", marking=[marks])


def test_a_marked_answer_shows_points_and_remarks_and_the_rubric_only_with_solutions(
    variant: Variant, marked: GradeReport
) -> None:
    with_feedback = page(variant, marked, ResultDisclosure.FEEDBACK)
    for words in ("the function", "◐ in part", "✓ all points", "which one?", "Divides by the sum.", "Good."):
        assert words in with_feedback
    assert "Names softmax." not in with_feedback and "each exponential" not in with_feedback
    assert EVIL not in with_feedback
    with_solution = page(variant, marked, ResultDisclosure.SOLUTION)
    assert "Names softmax." in with_solution and "each exponential" in with_solution


def test_verdicts_alone_show_points_and_nothing_that_people_wrote(
    variant: Variant, marked: GradeReport
) -> None:
    text = page(variant, marked, ResultDisclosure.VERDICT)
    assert "◐ in part" in text
    for words in ("which one?", "Divides by the sum.", "Good."):
        assert words not in text
    hidden = page(variant, marked, ResultDisclosure.NOTHING)
    assert "◐ in part" not in hidden and "Good." not in hidden


def test_an_answer_that_waits_says_so_for_each_criterion(variant: Variant) -> None:
    response = Response({"total": "1", "reason": "words"})
    report = grade_answers(variant, response, mode=Mode.MARKS, student="amy")
    text = page(variant, report, ResultDisclosure.FEEDBACK)
    assert text.count("… to be marked") >= 3  # the entry and two criteria
    assert "A person marks this." in text


def comment(line: int, text: str, file: str = "") -> CodeComment:
    return CodeComment(line, "amy", "softmax", "0" * 64, file, line, text, "prof", NOW)


def test_code_is_shown_around_each_comment() -> None:
    source = "".join(f"line{n}\n" for n in range(1, 21))
    files = commented_files(
        source, {"helpers": "a\nb\n"}, [comment(3, "x"), comment(12, "y"), comment(12, "z")]
    )
    (file,) = files
    assert file.name == ""
    assert [line.number for line in file.lines] == [1, 2, 3, 4, 5, 10, 11, 12, 13, 14]
    assert [line.skipped for line in file.lines if line.skipped] == [4]
    assert [[c.text for c in line.comments] for line in file.lines if line.comments] == [["x"], ["y", "z"]]
    whole = commented_files(source, {"helpers": "a\nb\n"}, [], whole=True)
    assert [(file.name, len(file.lines)) for file in whole] == [("", 20), ("helpers", 2)]


def test_comments_are_beside_the_code_on_the_students_page() -> None:
    report = GradeReport("softmax", "v1", Outcome.WRONG, 0.0, 10.0, mode=Mode.MARKS)
    column = TableColumn("~", 0, "softmax", "Softmax", 10.0)
    item = ItemResult(
        column, report, "0" * 64, NOW, comments=(comment(2, f"sum? {EVIL}"),), source=f"a = 1\nb = '{EVIL}'\n"
    )
    text = feedback_page(StudentResults("amy", "Amy", (item,)), title="T")
    assert "Comments on your code" in text and "sum?" in text and "a = 1" in text
    assert EVIL not in text
    hidden = replace(item, disclosure=ResultDisclosure.VERDICT)
    assert "sum?" not in feedback_page(StudentResults("amy", "Amy", (hidden,)), title="T")
