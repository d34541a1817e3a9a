"""Receipts go into pages and come out again, whoever wrote the page."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.marks.class_table import ItemResult, StudentResults, TableColumn
from engine.model import GradeReport, Mode, Outcome, Part, RenderedText, Variant
from engine.pages import feedback as receipts
from engine.pages import feedback_page
from engine.pages.feedback import PageReceipt, read_receipts

NOW = datetime(2026, 11, 27, 12, 30, tzinfo=UTC)
WORD = RenderedText("w", "<p>w</p>", "w")


def result(item: str, sha256: str, variant: Variant | None = None) -> ItemResult:
    report = GradeReport(item, f"version of {item}", Outcome.RIGHT, 1.0, 1.0, mode=Mode.MARKS)
    return ItemResult(TableColumn("~", 0, item, item, 1.0), report, sha256, NOW, variant=variant)


def test_a_page_gives_its_receipts_back() -> None:
    asked = Variant("v", "weights", "1", "W", WORD, (Part("answer", "token", 1.0),))
    items = (result("softmax", "a" * 64), result("weights", "b" * 64, asked))
    page = feedback_page(StudentResults("007", "Ada", items), title="T")
    assert read_receipts(page) == [
        PageReceipt("007", "softmax", "a" * 64, "version of softmax", is_answer=False),
        PageReceipt("007", "weights", "b" * 64, "version of weights", is_answer=True),
    ]


@pytest.mark.parametrize("evil", ['"><dl data-sha256="' + "c" * 64, "<!--", "</dl>", "&quot;", "\u202ex"])
def test_names_make_no_receipt(evil: str) -> None:
    item = replace(result(evil, "a" * 64), filename=evil, reason=evil)
    (found,) = read_receipts(feedback_page(StudentResults(evil, evil, (item,)), title=evil))
    assert found.sha256 == "a" * 64


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<dl>",
        '<dl data-sha256="abc">',
        f'<dl data-sha256="{"A" * 64}">',
        f'<p data-sha256="{"a" * 64}">',
        f'<!-- <dl data-sha256="{"a" * 64}"> -->',
        "<dl data-sha256>",
        "<![broken[",
    ],
)
def test_what_is_no_receipt_gives_none(page: str) -> None:
    assert read_receipts(page) == []


def test_a_forged_page_gives_clean_text_and_not_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipts, "MOST_RECEIPTS", 3)
    forged = (
        f'<dl data-sha256="{"a" * 64}" data-student="\x1b[31m&#x202e;evil\n" data-item="{"x" * 999}">' * 9
    )
    found = read_receipts(forged)
    assert len(found) == 3
    assert "\x1b" not in found[0].student and "\u202e" not in found[0].student and len(found[0].item) < 300


@given(st.text(max_size=300))
def test_any_text_can_be_read(page: str) -> None:
    read_receipts(page)
    read_receipts(f"<dl data-sha256={page}")
    read_receipts(f"<![{page}")
