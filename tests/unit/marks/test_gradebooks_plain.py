"""Plain CSV and Excel, read back by independent readers."""

from __future__ import annotations

import io
import sys
from dataclasses import replace

import pytest
from openpyxl import load_workbook

from engine.errors import UsageError
from engine.marks.gradebooks import FORMATS, GradebookFile, GradebookRequest, NoticeKind, gradebook_format
from tests.unit.marks.some_class import ROSTER, ROWS, TABLE, TITLES, read_csv, told

EVE = '=HYPERLINK("http://x","Eve")'


def made(name: str, **more) -> GradebookFile:
    return gradebook_format(name).make(
        replace(GradebookRequest(table=TABLE, roster=ROSTER, titles=TITLES), **more)
    )


def test_csv_has_a_column_per_item_and_the_total() -> None:
    book = made("csv")
    assert read_csv(book.content) == [
        ["student", "name", "l16/softmax-weights", "l16/context-vector", "softmax", "total"],
        ["007", "Ada Lovelace", "2", "1.5", "8", "11.5"],
        ["0012", "Björn Müller", "1", "0", "ungraded", "ungraded"],
        ["13", "Chiara Rossi", "1", "excused", "excused", "1"],
        ["14", "Dan Nothing", "", "", "", ""],
        ["15", "'" + EVE, "0", "0", "unreadable", "0"],
    ]
    assert ("15", "total: softmax can't be read and earns nothing") in told(book, NoticeKind.UNREADABLE)


def test_weighted_percent_is_a_column_where_there_is_one() -> None:
    rows = (replace(ROWS[0], percent=87.123456), *ROWS[1:])
    table = replace(TABLE, rows=rows)
    got = read_csv(made("csv", table=table).content)
    assert [row[-1] for row in got] == ["percent", "87.12", "ungraded", "", "", ""]
    got = read_csv(made("csv", table=table, columns=("Final=percent", "Points=total")).content)
    assert got[1] == ["007", "Ada Lovelace", "87.12", "11.5"]


def test_csv_for_another_country_and_for_excel() -> None:
    book = made("csv", decimal_comma=True, marked=True, protect_ids=True)
    assert book.content.startswith(b"\xef\xbb\xbfstudent;name;")
    rows = read_csv(book.content.removeprefix(b"\xef\xbb\xbf"), ";")
    assert rows[1] == ['="007"', "Ada Lovelace", "2", "1,5", "8", "11,5"]
    assert [row[0] for row in rows[2:]] == ['="0012"', "13", "14", "15"]
    assert made("csv", delimiter="\t").content.startswith(b"student\tname\t")


def test_a_decimal_comma_needs_another_delimiter() -> None:
    with pytest.raises(UsageError) as caught:
        made("csv", decimal_comma=True, delimiter=",")
    assert caught.value.what == "a decimal comma needs another delimiter"


def test_csv_with_comments() -> None:
    rows = read_csv(made("csv", feedback=True, columns=("HW=softmax",)).content)
    assert rows[0] == ["student", "name", "HW", "HW (feedback)"]
    assert rows[3] == ["13", "Chiara Rossi", "excused", "excused; get well soon"]


# --- Excel ---


def sheets(book: GradebookFile) -> dict[str, list[list[object]]]:
    opened = load_workbook(io.BytesIO(book.content))
    return {sheet.title: [[cell.value for cell in row] for row in sheet.iter_rows()] for sheet in opened}


def test_a_workbook_has_marks_raw_reasons_and_items() -> None:
    found = sheets(made("excel"))
    assert found == {
        "marks": [
            ["student", "name", "l16/softmax-weights", "l16/context-vector", "softmax", "total"],
            ["007", "Ada Lovelace", 2, 1.5, 8, 11.5],
            ["0012", "Björn Müller", 1, 0, "ungraded", "ungraded"],
            ["13", "Chiara Rossi", 1, "excused", "excused", 1],
            ["14", "Dan Nothing", None, None, None, None],
            ["15", EVE, 0, 0, "unreadable", 0],
        ],
        "raw": [
            ["student", "name", "l16/softmax-weights", "l16/context-vector", "softmax"],
            ["007", "Ada Lovelace", 2, 1.5, 10],
            ["0012", "Björn Müller", 1, 0, "ungraded"],
            ["13", "Chiara Rossi", 1, None, None],
            ["14", "Dan Nothing", None, None, None],
            ["15", EVE, 0, 0, "unreadable"],
        ],
        "why": [
            ["student", "name", "column", "graded", "counts", "why", "comment"],
            ["007", "Ada Lovelace", "softmax", 10, 8, "2 days late: 20 % off, 8 of 10", None],
            ["13", "Chiara Rossi", "l16/context-vector", None, "excused", "excused", None],
            ["13", "Chiara Rossi", "softmax", None, "excused", "excused", "get well soon"],
        ],
        "items": [
            ["column", "title", "assignment", "item", "full points"],
            ["l16/softmax-weights", "Weights of three scores", "l16", "softmax-weights", 2],
            ["l16/context-vector", "Context vector", "l16", "context-vector", 3],
            ["softmax", "Write softmax", "softmax", "softmax", 10],
        ],
    }


def test_no_cell_is_a_formula_ids_are_text_and_the_head_stays_in_sight() -> None:
    opened = load_workbook(io.BytesIO(made("excel").content))
    for sheet in opened:
        assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n", "inlineStr"}
        assert sheet.freeze_panes == ("A2" if sheet.title == "items" else "C2")
    marks = opened["marks"]
    assert (marks["A2"].value, marks["A2"].number_format, marks["A2"].data_type) == ("007", "@", "s")
    assert marks["B6"].quotePrefix
    assert not marks["B2"].quotePrefix
    assert marks.column_dimensions["B"].width == len(EVE) + 2
    assert marks["A1"].font.bold


def test_without_openpyxl_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(UsageError) as caught:
        made("excel")
    assert caught.value.next_step == "pip install 'softmark[excel]', or choose csv"


# --- formats ---


def test_every_format_is_registered_under_its_own_name() -> None:
    assert [gradebook_format(name).name for name in FORMATS] == ["canvas", "moodle", "csv", "excel"]


def test_an_unknown_format_is_told() -> None:
    with pytest.raises(UsageError) as caught:
        gradebook_format("exel")
    assert caught.value.next_step == "did you mean excel?"
