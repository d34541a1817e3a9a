"""Plain CSV: a row per student, a column per item, for spreadsheets and scripts."""

from __future__ import annotations

from engine.errors import UsageError
from engine.gradebooks.cells import csv_bytes, id_cell, text_cell
from engine.gradebooks.formats import GradebookFormat
from engine.gradebooks.gradebook import Gradebook, Request
from engine.gradebooks.rows import NewRows
from engine.gradebooks.signs import Signs
from engine.gradebooks.targets import column_targets, named_targets

__all__ = ["FORMAT", "plain_gradebook"]

_SIGNS = Signs("excused", ungraded="ungraded", unreadable="unreadable")


def plain_gradebook(request: Request) -> Gradebook:
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
    return Gradebook(content, new.headings, new.marks, tuple(new.listed))


FORMAT = GradebookFormat(
    "csv",
    frozenset({"feedback", "delimiter", "decimal_comma", "marked", "protect_ids"}),
    plain_gradebook,
)
