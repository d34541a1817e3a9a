"""The gradebook as CSV and JSON.

A cell is blank where nothing was handed in and says ``ungraded`` or ``format_error`` where there is
no score: neither is a 0.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from engine import __version__
from engine.course import StudentRow
from engine.foreign import csv_cell
from engine.model import Mode, Outcome, plain_points
from engine.report.summary import ClassTable

__all__ = ["gradebook_csv", "gradebook_json"]

_NO_SCORE = {Outcome.UNGRADED: "ungraded", Outcome.FORMAT_ERROR: "format_error"}


def _cells(row: StudentRow, table: ClassTable) -> list[str | float | int]:
    cells: list[str | float | int] = []
    for column in table.columns:
        cell = row.cells.get(column.id)
        if cell is None:
            cells.append("")
        elif cell.score is None:
            cells.append(_NO_SCORE[cell.outcome])
        else:
            cells.append(plain_points(cell.score))
    total = row.total()
    cells.append(plain_points(total) if total is not None else "ungraded" if row.cells else "")
    return cells


def gradebook_csv(table: ClassTable, *, practice: bool = False) -> str:
    """Return the gradebook as CSV (RFC 4180, UTF-8): ``student, name``, a column per item, ``total``.

    With `practice` a last column ``mode`` says so in every line: such a table can't be taken for marks.

    Texts are in quotes, so that an id such as ``007`` is seen to be one; none of them begins a formula.
    """
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    mode = (["mode"], ["practice"]) if practice else ([], [])
    writer.writerow(
        ["student", "name", *(csv_cell(column.id) for column in table.columns), "total", *mode[0]]
    )
    for row in table.rows:
        writer.writerow([csv_cell(row.student), csv_cell(row.name), *_cells(row, table), *mode[1]])
    return out.getvalue()


def gradebook_json(table: ClassTable, *, practice: bool = False) -> str:
    """Return the gradebook as JSON: title, mode, columns, students with scores and outcomes."""
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
        "students": [_student(row) for row in table.rows],
    }
    # ASCII: lone surrogates and direction marks stay visible as escapes.
    return json.dumps(document, ensure_ascii=True, indent=1) + "\n"


def _student(row: StudentRow) -> dict[str, Any]:
    total = row.total()
    return {
        "student": row.student,
        "name": row.name,
        "total": None if total is None else plain_points(total),
        "scores": {
            column: {
                "outcome": str(cell.outcome),
                "score": None if cell.score is None else plain_points(cell.score),
                "misconceptions": list(cell.misconceptions),
            }
            for column, cell in row.cells.items()
        },
    }
