"""What a report shows at each level."""

from __future__ import annotations

import pytest

from engine.model import (
    Check,
    Diagnosis,
    GradeReport,
    Outcome,
    Part,
    RenderedText,
    ResultDisclosure,
    Variant,
    Verdict,
)
from engine.quiz.rules import shown_report

SECRET = RenderedText("the key is 7", "", "")
VARIANT = Variant("v", "i", "1", "T", SECRET, (Part("answer", "number", 1.0),), told_after=(SECRET,))
REPORT = GradeReport(
    item="i",
    item_version="1",
    outcome=Outcome.WRONG,
    score=0.0,
    max_score=1.0,
    checks=(Check("answer", Verdict.FAILED, 0, 1, "too small"),),
    diagnosis=(Diagnosis("m-x", "because"),),
    notes=("a note", "the key is 7"),
    credit=0.7,
)


@pytest.mark.parametrize("level", [ResultDisclosure.NOTHING, ResultDisclosure.SCORE])
def test_without_verdicts_there_is_no_report(level: ResultDisclosure) -> None:
    shown = shown_report(REPORT, VARIANT, level, is_final=True)
    assert shown.report is None and not shown.with_solution


def test_a_verdict_says_neither_why_nor_what_would_be_right() -> None:
    shown = shown_report(REPORT, VARIANT, ResultDisclosure.VERDICT, is_final=True)
    assert shown.report is not None and not shown.with_solution
    assert shown.report.outcome is Outcome.WRONG and shown.report.score == 0
    assert [(c.id, c.verdict, c.message) for c in shown.report.checks] == [("answer", Verdict.FAILED, "")]
    assert shown.report.diagnosis == () and shown.report.notes == ("This counts 70 %.",)


@pytest.mark.parametrize("level", [ResultDisclosure.FEEDBACK, ResultDisclosure.SOLUTION])
@pytest.mark.parametrize("is_final", [True, False])
def test_nothing_tells_the_key_before_the_last_attempt(level: ResultDisclosure, is_final: bool) -> None:
    shown = shown_report(REPORT, VARIANT, level, is_final=is_final)
    assert shown.report is not None
    assert ("the key is 7" in shown.report.notes) == is_final
    assert "a note" in shown.report.notes and shown.report.diagnosis == REPORT.diagnosis
    assert shown.with_solution == (is_final and level is ResultDisclosure.SOLUTION)


@pytest.mark.parametrize("level", list(ResultDisclosure))
def test_what_cannot_be_read_is_told_at_every_level(level: ResultDisclosure) -> None:
    unread = GradeReport(
        "i", "1", Outcome.FORMAT_ERROR, None, 1.0, (Check("answer", Verdict.FAILED, 0, 1, "?"),)
    )
    shown = shown_report(unread, VARIANT, level, is_final=True)
    assert shown.report == unread and not shown.with_solution
