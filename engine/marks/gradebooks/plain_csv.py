"""Marks as plain tables, for spreadsheets and scripts: a row per student, a column per item.

``grade export csv`` writes what its options ask for; ``grade batch`` writes ``gradebook.csv`` and
``gradebook.json``, which also show a changed mark as it was graded, and why it changed. In all of them a cell
is blank where nothing (or nothing that counts) was handed in and says ``ungraded``, ``unreadable`` or
``excused`` where there is no score: none of these is a 0.
"""

from __future__ import annotations

import json
from typing import Any

from engine import __version__
from engine.errors import UsageError
from engine.marks.class_table import ClassTable, StudentRow, TableCell
from engine.marks.gradebooks.cells import CellSigns, CellValue, NewRows, entry_of, entry_value, graded_value
from engine.marks.gradebooks.columns import TargetColumn, column_targets, named_targets
from engine.marks.gradebooks.formats import GradebookFile, GradebookFormat, GradebookRequest
from engine.model import Mode
from engine.text.tables import csv_bytes, csv_text, id_cell, text_cell
from engine.text.words import plain_points

_SIGNS = CellSigns("excused", ungraded="ungraded", unreadable="unreadable")


def _plain_gradebook(request: GradebookRequest) -> GradebookFile:
    """Return the gradebook as CSV: ``student``, ``name``, a column per item, ``total``."""
    delimiter = request.delimiter or (";" if request.decimal_comma else ",")
    if request.decimal_comma and delimiter == ",":
        raise UsageError(
            "a decimal comma needs another delimiter", expected='--delimiter ";" or --delimiter tab'
        )
    table = request.table
    targets = named_targets(table, request.columns) if request.columns else column_targets(table)
    new = NewRows(targets, _SIGNS, request, scaled=False)
    rows = [["student", "name", *new.head()]]
    for row in table.rows:
        about = id_cell(row.student, protect=request.protect_ids), text_cell(row.name)
        rows.append([*about, *new.cells(row)])
    content = csv_bytes(rows, delimiter=delimiter, marked=request.marked)
    return GradebookFile(content, new.headings, new.marks, tuple(new.notices))


FORMAT = GradebookFormat(
    "csv", frozenset({"feedback", "delimiter", "decimal_comma", "marked", "protect_ids"}), _plain_gradebook
)


def gradebook_csv(table: ClassTable, *, practice: bool = False) -> str:
    """Return the gradebook of a batch as CSV: ``student, name``, a column per item, ``total``.

    A column in which the course's rules or a person changed a mark is followed by two more, ``graded`` and
    ``why``. Where groups have weights, ``percent`` follows the total.

    With `practice` a last column ``mode`` says so in every line, so that nobody takes such a table for marks.
    """
    explained = {
        column
        for row in table.rows
        for column, cell in row.cells.items()
        if cell.mark is not None and cell.mark.reasons
    }
    has_percent = any(row.percent is not None for row in table.rows)
    head = ["student", "name"]
    for column in table.columns:
        suffixes = ("", " graded", " why") if column.id in explained else ("",)
        head += [text_cell(column.id + suffix) for suffix in suffixes]
    head += ["total", *(["percent"] if has_percent else []), *(["mode"] if practice else [])]
    rows: list[list[CellValue]] = [[*head]]
    for row in table.rows:
        cells: list[CellValue] = [text_cell(row.student), text_cell(row.name)]
        for column in table.columns:
            cell = row.cells.get(column.id)
            target = TargetColumn(column.id, (column,), column.id, column.max_score)
            cells.append(entry_value(entry_of(row, target, scaled=False)))
            if column.id in explained:
                why = "; ".join(cell.mark.reasons) if cell is not None and cell.mark is not None else ""
                cells += [graded_value(cell), text_cell(why)]
        total = row.total()
        cells.append(plain_points(total) if total is not None else "ungraded" if row.is_waiting else "")
        if has_percent:
            cells.append("" if row.percent is None else plain_points(row.percent))
        rows.append([*cells, *(["practice"] if practice else [])])
    return csv_text(rows, quote_texts=True)


def gradebook_json(table: ClassTable, *, practice: bool = False) -> str:
    """Return the gradebook as JSON: title, mode, columns, students with scores and outcomes.

    ``score`` is as graded. Where the course's rules or a person ruled on a mark, ``counts`` is what it
    counts, and ``why`` says so.
    """
    document: dict[str, Any] = {
        "title": table.title,
        "mode": str(Mode.PRACTICE if practice else Mode.MARKS),
        "engine_version": __version__,
        "max_total": plain_points(table.maximum),
        "columns": [
            {
                "id": column.id,
                "item": column.item,
                "title": column.title,
                "max_score": plain_points(column.max_score),
            }
            for column in table.columns
        ],
        "students": [_student(row, table) for row in table.rows],
    }
    # ASCII: lone surrogates and direction marks stay visible as escapes.
    return json.dumps(document, ensure_ascii=True, indent=1) + "\n"


def _student(row: StudentRow, table: ClassTable) -> dict[str, Any]:
    return {
        "student": row.student,
        "name": row.name,
        "total": _points(row.total()),
        "max_total": plain_points(row.maximum(table.columns)),
        "max_so_far": plain_points(row.maximum_so_far(table.columns)),
        **({} if row.percent is None else {"percent": plain_points(row.percent)}),
        "scores": {column: _score(cell) for column, cell in row.cells.items()},
    }


def _score(cell: TableCell) -> dict[str, Any]:
    score: dict[str, Any] = {
        "outcome": None if cell.outcome is None else str(cell.outcome),
        "score": _points(cell.score),
        "misconceptions": list(cell.misconceptions),
    }
    if cell.mark is not None:
        score |= {
            "counts": _points(cell.counted),
            "why": list(cell.mark.why),
            "comment": cell.mark.comment,
            "excused": cell.mark.excused,
            "dropped": cell.mark.dropped,
        }
    return score


def _points(value: float | None) -> float | int | None:
    return None if value is None else plain_points(value)
