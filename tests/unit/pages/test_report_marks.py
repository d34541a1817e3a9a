"""Gradebook and class page show what counts, what was graded, and why."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime

import html5lib
import pytest

from engine.marks.class_table import (
    ClassTable,
    ColumnMark,
    ItemResult,
    StudentResults,
    StudentRow,
    TableColumn,
    class_table,
)
from engine.marks.gradebooks.plain_csv import gradebook_csv, gradebook_json
from engine.model import GradeReport, Mode, Outcome
from engine.pages import summary_page
from engine.pages.summary import changes

NOW = datetime(2026, 11, 27, 12, 30, tzinfo=UTC)
CODE = TableColumn("~", 0, "softmax", "Softmax", 10.0)
QUIZ = TableColumn("week-1", 1, "weights", "Weights", 4.0)


def result(column: TableColumn, score: float | None, mark: ColumnMark | None = None) -> ItemResult:
    outcome = (
        Outcome.UNGRADED if score is None else Outcome.RIGHT if score == column.max_score else Outcome.PARTIAL
    )
    report = GradeReport(column.item, "v", outcome, score, column.max_score, mode=Mode.MARKS)
    return ItemResult(column, report, "ab" * 32, NOW, mark=mark)


def some_class() -> ClassTable:
    late = ColumnMark(10, 8, ("2 days late: 20 % off, 8 of 10",))
    low = ColumnMark(1, 1, ("lowest",), dropped=True)
    hand = ColumnMark(None, 7, ("set by prof: 7 of 10",), comment="=oral, well done")
    return class_table(
        "T",
        [
            StudentResults(
                "ada", "Ada", (result(QUIZ, 4, ColumnMark(4, 4)), result(CODE, 10, late)), percent=87.5
            ),
            StudentResults("bob", "Bob", (result(QUIZ, 1, low),), without_work=((CODE, hand),)),
            StudentResults("eve", "Eve", (result(CODE, 3, ColumnMark(3, None, ("excused",), excused=True)),)),
            StudentResults("kim", "Kim", (result(CODE, None, ColumnMark(None, None)),)),
            StudentResults("zoe", "Zoe", (), without_work=((QUIZ, ColumnMark(None, 0.0, ("missing",))),)),
            StudentResults("yan", "Yan", (result(CODE, 10, ColumnMark(10, None, ("closed",))),)),
        ],
    )  # fmt: skip


def test_the_csv_explains_the_columns_that_changed() -> None:
    rows = list(csv.reader(io.StringIO(gradebook_csv(some_class()))))
    assert rows == [
        ["student", "name", "week-1/weights", "week-1/weights graded", "week-1/weights why",
         "softmax", "softmax graded", "softmax why", "total", "percent"],
        ["ada", "Ada", "4", "4", "", "8", "10", "2 days late: 20 % off, 8 of 10", "12", "87.5"],
        ["bob", "Bob", "1", "1", "lowest", "7", "", "set by prof: 7 of 10; =oral, well done", "7", ""],
        ["eve", "Eve", "", "", "", "excused", "3", "excused", "", ""],
        ["kim", "Kim", "", "", "", "ungraded", "ungraded", "", "ungraded", ""],
        ["zoe", "Zoe", "0", "", "missing", "", "", "", "0", ""],
        ["yan", "Yan", "", "", "", "", "10", "closed", "0", ""],
    ]  # fmt: skip


def test_a_comment_begins_no_formula() -> None:
    table = class_table("T", [StudentResults("a", "", (result(CODE, 1, ColumnMark(1, 1, comment="=1+1")),))])
    assert list(csv.reader(io.StringIO(gradebook_csv(table))))[1][4] == "'=1+1"


def test_the_json_has_both_points_and_why() -> None:
    ada, bob, eve, *_ = json.loads(gradebook_json(some_class()))["students"]
    assert (ada["total"], ada["max_total"], ada["percent"]) == (12, 14, 87.5)
    assert ada["scores"]["softmax"] == {
        "outcome": "right",
        "score": 10,
        "misconceptions": [],
        "counts": 8,
        "why": ["2 days late: 20 % off, 8 of 10"],
        "comment": "",
        "excused": False,
        "dropped": False,
    }
    softmax = bob["scores"]["softmax"]
    assert (softmax["outcome"], softmax["score"], softmax["counts"]) == (None, None, 7)
    assert bob["scores"]["week-1/weights"]["dropped"] and (bob["total"], bob["max_total"]) == (7, 10)
    assert eve["scores"]["softmax"]["excused"] and (eve["total"], eve["max_total"]) == (None, 4)


def words(page: str) -> str:
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)
    return " ".join(" ".join(tree.find("body").itertext()).split())


def test_the_class_page_lists_what_changed() -> None:
    table = some_class()
    assert [(c.student, c.column.id) for c in changes(table)] == [
        ("ada", "softmax"),
        ("bob", "week-1/weights"),
        ("bob", "softmax"),
        ("eve", "softmax"),
        ("zoe", "week-1/weights"),
        ("yan", "softmax"),
    ]
    shown = words(summary_page(table, links={row.student: "x.html" for row in table.rows}))
    for sentence in (
        "Ada ada 12 87.5 4 ✓ 8 ✓ *",
        "Bob bob 7 of 10 ( 1 ◐ )* 7 *",
        "excused ◐ *",
        "ada softmax 10 8 2 days late: 20 % off, 8 of 10",
        "bob week-1/weights 1 – lowest",
        "bob softmax – 7 set by prof: 7 of 10; =oral, well done",
        "5 handed something in",
        # 12 of 14, 7 of 10, 0 of what was handed in; what is missing, excused or ungraded is no part of it
        "68 % mean mark so far",
    ):
        assert sentence in shown


def test_a_table_that_nothing_changed_says_nothing_about_changes() -> None:
    table = class_table("T", [StudentResults("ada", "Ada", (result(CODE, 10),))])
    shown = words(summary_page(table, links={"ada": "x.html"}))
    assert "changed" not in shown and "Weighted" not in shown
    assert "graded" not in gradebook_csv(table)


@pytest.mark.parametrize("evil", ["<script>alert(1)</script>", '"><svg onload=alert(1)>', "\x1b[31m\u202e"])
def test_hostile_comments_stay_text(evil: str) -> None:
    row = class_table(
        "T", [StudentResults("a", "", (result(CODE, 1, ColumnMark(1, 1, (evil,), comment=evil)),))]
    )
    page = summary_page(row, links={"a": "x.html"})
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)
    assert not {"script", "svg"} & {element.tag for element in tree.iter() if isinstance(element.tag, str)}
    assert "\x1b" not in page and "\u202e" not in page


def test_totals_wait_only_for_what_counts() -> None:
    def row(mark: ColumnMark | None) -> StudentRow:
        return StudentResults("a", "", (result(QUIZ, 2), result(CODE, None, mark))).row()

    assert row(None).total() is None and row(ColumnMark(None, None)).is_waiting
    assert row(ColumnMark(None, 7, ("set",))).total() == 9
    assert row(ColumnMark(None, None, ("excused",), excused=True)).total() == 2


def test_a_mark_set_by_hand_has_no_sign_of_what_was_graded() -> None:
    hand = ColumnMark(0, 7, ("set by prof: 7 of 10",), by_hand=True)
    table = class_table("T", [StudentResults("bob", "Bob", (result(CODE, 0, hand),))])
    page = summary_page(table, links={"bob": "x.html"})
    row = page.split("The class", 1)[1].split("<tbody>", 1)[1].split("</tbody>", 1)[0]
    assert re.sub(r"\s", "", re.sub("<[^>]*>", "", row)).endswith("7*")
    assert "partly right" not in row
