"""Plain CSV: a row per student, a column per item, for spreadsheets and scripts."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from engine import __version__
from engine.errors import UsageError
from engine.marks.gradebooks.cells import CellSigns, NewRows
from engine.marks.gradebooks.columns import column_targets, named_targets
from engine.marks.gradebooks.formats import GradebookFile, GradebookFormat, GradebookRequest
from engine.marks.results import ClassTable, StudentRow, TableCell
from engine.model import Mode, Outcome
from engine.text.escape import csv_cell, csv_text
from engine.text.tables import csv_bytes, id_cell, text_cell
from engine.text.words import plain_points

__all__ = ["FORMAT", "gradebook_csv", "gradebook_json", "plain_gradebook"]

_SIGNS = CellSigns("excused", ungraded="ungraded", unreadable="unreadable")


def plain_gradebook(request: GradebookRequest) -> GradebookFile:
    """Return the gradebook as CSV: ``student``, ``name``, a column per item, ``total``.

    Raises
    ------
    UsageError
        Numbers with a decimal comma between commas.
    """
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
    return GradebookFile(content, new.headings, new.marks, tuple(new.listed))


FORMAT = GradebookFormat(
    "csv",
    frozenset({"feedback", "delimiter", "decimal_comma", "marked", "protect_ids"}),
    plain_gradebook,
)


# ----------------------------------------------------------------------------------------------------
# The gradebook as CSV and JSON.
#
# A cell is blank where nothing was handed in (or nothing that counts) and says ``ungraded``,
# ``unreadable`` or ``excused`` where there is no score: none of these is a 0.

_NO_SCORE = {outcome: outcome.word for outcome in (Outcome.UNGRADED, Outcome.FORMAT_ERROR)}

_Value = str | float | int


def _counts(cell: TableCell | None) -> _Value:
    """Return what a cell counts, or the word that says why it counts for nothing."""
    if cell is None:
        return ""
    if cell.counted is not None:
        return plain_points(cell.counted)
    if cell.mark is not None and cell.mark.excused:
        return "excused"
    return _NO_SCORE.get(cell.outcome, "") if cell.outcome is not None else ""


def _graded(cell: TableCell | None) -> _Value:
    if cell is None or cell.outcome is None:
        return ""
    return _NO_SCORE[cell.outcome] if cell.score is None else plain_points(cell.score)


def _why(cell: TableCell | None) -> str:
    return csv_cell("; ".join(cell.mark.reasons)) if cell is not None and cell.mark is not None else ""


def _explained(table: ClassTable) -> frozenset[str]:
    """Return the columns in which something changed a mark: they also show it as graded, and why."""
    return frozenset(
        column
        for row in table.rows
        for column, cell in row.cells.items()
        if cell.mark is not None and cell.mark.reasons
    )


def _cells(row: StudentRow, table: ClassTable, explained: Collection[str], percent: bool) -> list[_Value]:
    cells: list[_Value] = []
    for column in table.columns:
        cell = row.cells.get(column.id)
        cells.append(_counts(cell))
        if column.id in explained:
            cells += [_graded(cell), _why(cell)]
    total = row.total()
    cells.append(plain_points(total) if total is not None else "ungraded" if row.is_waiting else "")
    if percent:
        cells.append("" if row.percent is None else plain_points(row.percent))
    return cells


def gradebook_csv(table: ClassTable, *, practice: bool = False) -> str:
    """Return the gradebook as CSV (RFC 4180, UTF-8): ``student, name``, a column per item, ``total``.

    A column in which the course's rules or a person changed a mark is followed by two more, ``graded`` and
    ``why``. Where groups have weights, ``percent`` follows the total.

    With `practice` a last column ``mode`` says so in every line: such a table can't be taken for marks.

    Texts are in quotes, so that an id such as ``007`` is seen to be one; none of them begins a formula.
    """
    mode = (["mode"], ["practice"]) if practice else ([], [])
    explained = _explained(table)
    percent = any(row.percent is not None for row in table.rows)
    heads = [
        csv_cell(column.id + more)
        for column in table.columns
        for more in (("", " graded", " why") if column.id in explained else ("",))
    ]
    columns = ["student", "name", *heads, "total", *(["percent"] if percent else []), *mode[0]]
    rows = []
    for row in table.rows:
        cells = _cells(row, table, explained, percent)
        rows.append([csv_cell(row.student), csv_cell(row.name), *cells, *mode[1]])
    return csv_text(columns, rows)


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
    found: dict[str, Any] = {
        "outcome": None if cell.outcome is None else str(cell.outcome),
        "score": _points(cell.score),
        "misconceptions": list(cell.misconceptions),
    }
    if cell.mark is not None:
        found |= {
            "counts": _points(cell.counted),
            "why": list(cell.mark.why),
            "comment": cell.mark.comment,
            "excused": cell.mark.excused,
            "dropped": cell.mark.dropped,
        }
    return found


def _points(value: float | None) -> float | int | None:
    return None if value is None else plain_points(value)
