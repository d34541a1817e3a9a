"""Gradebooks of hostile classes: nothing runs, nobody gets another's mark, nothing is lost."""

from __future__ import annotations

import csv
import io
import tempfile
import unicodedata
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

from engine.course import Roster, Student
from engine.marks.class_table import ClassTable, StudentRow, TableCell, TableColumn
from engine.marks.gradebooks import GradebookFile, GradebookRequest, gradebook_format
from engine.model import Outcome
from engine.text.tables import is_number, kept_cell
from engine.text.words import clean_line

COLUMN = TableColumn("~", 0, "softmax", "Write softmax", 10.0)
STARTS = ("=", "+", "-", "@", "\t", "\r")
HOSTILE = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r\n=1", 'a"b', "a,b", "a;b", "a\nb",
         "\u202egnp.exe", "x\u200by", "e\u0301", "\ufffe", "\ud800", "", " ", "'", "=", "-", "-5"]
    ),
    st.builds(lambda sign, rest: sign + rest, st.sampled_from(STARTS), st.text(max_size=20)),
)  # fmt: skip


@st.composite
def classes(draw: st.DrawFn) -> tuple[ClassTable, Roster, dict[str, float | None]]:
    ids = [f"{n:03}" for n in range(draw(st.integers(1, 5)))]
    names = [draw(HOSTILE) for _ in ids]
    marks = {i: draw(st.none() | st.integers(0, 400).map(lambda quarter: quarter / 40)) for i in ids}
    rows = [
        StudentRow(i, name, {} if marks[i] is None else {COLUMN.id: TableCell(Outcome.PARTIAL, marks[i])})
        for i, name in zip(ids, names, strict=True)
    ]
    people = [Student(i, name, f"s{i}@example.org") for i, name in zip(ids, names, strict=True)]
    return ClassTable("T", (COLUMN,), tuple(rows)), Roster(tuple(people)), marks


def make(name: str, table: ClassTable, roster: Roster, **more) -> GradebookFile:
    request = GradebookRequest(table=table, roster=roster, columns=("HW=softmax",), **more)
    return gradebook_format(name).make(request)


def written(marks: dict[str, float | None]) -> dict[str, float | None]:
    """Return the marks as every file and page writes them: two decimals, a half upwards."""
    return {
        student: None
        if mark is None
        else float(Decimal(str(mark)).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP))
        for student, mark in marks.items()
    }


def read(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8"), newline="")))


def shows(name: str) -> str:
    return clean_line(unicodedata.normalize("NFC", name))


@given(classes())
def test_text_files_hold_every_mark_and_no_formula(made: tuple) -> None:
    table, roster, marks = made
    for name, place, none in (("csv", 0, ""), ("canvas", 2, ""), ("moodle", 0, "-")):
        rows = read(make(name, table, roster).content)[2 if name == "canvas" else 1 :]
        assert len(rows) == len(marks)
        got = {row[place].removeprefix("s").removesuffix("@example.org"): row[-1] for row in rows}
        assert {i: None if cell == none else float(cell) for i, cell in got.items()} == written(marks)
        for row in rows:
            assert not any(cell.startswith(STARTS) and not is_number(cell) and cell != none for cell in row)
            assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs"} for cell in row for c in cell)


@given(classes())
def test_a_workbook_gives_back_every_text_and_mark(made: tuple) -> None:
    table, roster, marks = made
    sheet = load_workbook(io.BytesIO(make("excel", table, roster).content))["marks"]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
    assert {row[0]: row[2] for row in rows} == written(marks)
    names = [(row[1] or "").replace("\ufffd", "") for row in rows]
    assert names == [
        "".join(c for c in shows(row.name) if c not in "\ufffd\ufffe\uffff") for row in table.rows
    ]
    assert not any(cell.data_type == "f" for row in sheet.iter_rows() for cell in row)


@given(classes(), st.lists(HOSTILE, min_size=1, max_size=5), st.data())
def test_a_filled_file_changes_nobody_elses_cells(made: tuple, notes: list[str], data: st.DataObject) -> None:
    table, roster, marks = made
    there = [*data.draw(st.permutations(list(marks))), "stranger"]
    notes = [note.encode("utf-8", "replace").decode().replace("\0", "") for note in notes]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["Student", "ID", "SIS User ID", "Section", "Notes", "HW (1)"])
    writer.writerow(["    Points Possible", "", "", "", "", "10"])
    given_rows = [["N", "", i, "A", notes[k % len(notes)], ""] for k, i in enumerate(there)]
    writer.writerows(given_rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "canvas.csv")
        path.write_bytes(out.getvalue().encode())
        filled = make("canvas", table, Roster(tuple(Student(s.id) for s in roster.students)), into=path)
    rows = read(filled.content)[2:]
    assert [row[2] for row in rows] == there
    assert [row[:4] for row in rows] == [row[:4] for row in given_rows]
    assert {row[2]: None if row[5] == "" else float(row[5]) for row in rows[:-1]} == written(marks)
    assert rows[-1][5] == ""
    for row, before in zip(rows, given_rows, strict=True):
        if not before[4].lstrip(" ").startswith((*STARTS, "\n")):
            assert row[4] == before[4]
        assert kept_cell(row[4]) == row[4]
