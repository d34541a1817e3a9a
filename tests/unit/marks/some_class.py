"""A small class with everything that a gradebook has to tell apart, as values."""

from __future__ import annotations

import csv
import io

from engine.course import Roster, Student
from engine.marks.class_table import ClassTable, ColumnMark, StudentRow, TableCell, TableColumn
from engine.marks.gradebooks import GradebookFile, NoticeKind
from engine.model import Outcome

WEIGHTS = TableColumn("l16", 1, "softmax-weights", "Weights of three scores", 2.0)
CONTEXT = TableColumn("l16", 2, "context-vector", "Context vector", 3.0)
SOFTMAX = TableColumn("~", 0, "softmax", "Write softmax", 10.0)
COLUMNS = (WEIGHTS, CONTEXT, SOFTMAX)
TITLES = {"l16": "Attention by hand", "softmax": "Write softmax"}

ROSTER = Roster(
    (
        Student("007", "Ada Lovelace", "ada@example.org", "ada", "A", "4001"),
        Student("0012", "Björn Müller", "bjoern@example.org", "bjoern", "A", "4002"),
        Student("13", "Chiara Rossi", "chiara@example.org", "chiara", "B", "4003"),
        Student("14", "Dan Nothing", "dan@example.org", "dan", "B", "4004"),
        Student("15", '=HYPERLINK("http://x","Eve")', "eve@example.org", "eve", "B", "4005"),
    )
)


def cell(score: float | None, full: float, mark: ColumnMark | None = None) -> TableCell:
    if score is None:
        return TableCell(Outcome.UNGRADED, None, reason="the machine stopped", mark=mark)
    outcome = Outcome.RIGHT if score == full else Outcome.PARTIAL if score else Outcome.WRONG
    return TableCell(outcome, score, mark=mark)


UNREADABLE = TableCell(Outcome.FORMAT_ERROR, None, reason="line 3 is no Python")
LATE = ColumnMark(10.0, 8.0, ("2 days late: 20 % off, 8 of 10",))
EXCUSED = ColumnMark(None, None, ("excused",), excused=True, comment="get well soon")

ROWS = (
    StudentRow(
        "007",
        "Ada Lovelace",
        {WEIGHTS.id: cell(2.0, 2.0), CONTEXT.id: cell(1.5, 3.0), SOFTMAX.id: cell(10.0, 10.0, LATE)},
    ),
    StudentRow(
        "0012",
        "Björn Müller",
        {WEIGHTS.id: cell(1.0, 2.0), CONTEXT.id: cell(0.0, 3.0), SOFTMAX.id: cell(None, 10.0)},
    ),
    # Of the quiz one question is excused: 1 of 2 points stand for the whole.
    StudentRow(
        "13",
        "Chiara Rossi",
        {
            WEIGHTS.id: cell(1.0, 2.0),
            CONTEXT.id: TableCell(None, None, mark=ColumnMark(None, None, ("excused",), excused=True)),
            SOFTMAX.id: TableCell(None, None, mark=EXCUSED),
        },
    ),
    StudentRow("14", "Dan Nothing", {}),
    StudentRow(
        "15",
        ROSTER.students[4].name,
        {WEIGHTS.id: cell(0.0, 2.0), CONTEXT.id: cell(0.0, 3.0), SOFTMAX.id: UNREADABLE},
    ),
)
TABLE = ClassTable("Deep Learning", COLUMNS, ROWS)


def read_csv(content: bytes, delimiter: str = ",") -> list[list[str]]:
    """Read a file as anybody would: with the csv module."""
    return list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), delimiter=delimiter))


def told(gradebook: GradebookFile, kind: NoticeKind) -> list[tuple[str, str]]:
    return [(one.where, one.message) for one in gradebook.notices if one.kind is kind]
