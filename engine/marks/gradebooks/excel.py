"""An Excel workbook: marks as they count, marks as graded, why they differ, and the items. No formulas."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engine.errors import UsageError
from engine.marks.gradebooks.cells import EntryState, GradebookEntry, entry_of, tell_entry
from engine.marks.gradebooks.columns import column_targets, named_targets
from engine.marks.gradebooks.formats import GradebookFile, GradebookFormat, GradebookNotice, GradebookRequest
from engine.marks.results import StudentRow
from engine.model import Outcome
from engine.text.escape import clean_line
from engine.text.words import plain_points

if TYPE_CHECKING:
    from openpyxl import Workbook

__all__ = ["FORMAT", "excel_gradebook"]

_Value = str | float | int
_WORDS = {EntryState.MISSING: ""}
_NO_SCORE = {outcome: outcome.word for outcome in (Outcome.UNGRADED, Outcome.FORMAT_ERROR)}
_LONGEST = 32_000  # a cell holds 32,767 characters
_WIDEST = 60
# XML has no sign for these two: a workbook with them is damaged.
_NO_XML = dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd")


def excel_gradebook(request: GradebookRequest) -> GradebookFile:
    """Return the gradebook as a workbook with the sheets ``marks``, ``raw``, ``why`` and ``items``.

    Ids and all other texts are text cells, marks are numbers; what has no mark is blank or a word.

    Raises
    ------
    UsageError
        openpyxl isn't installed.
    """
    try:
        from openpyxl import Workbook
    except ImportError as error:
        raise UsageError(
            "a workbook can't be written here: openpyxl is missing",
            next_step="pip install 'softmark[excel]', or choose csv",
        ) from error
    table = request.table
    targets = named_targets(table, request.columns) if request.columns else column_targets(table)
    listed: list[GradebookNotice] = []
    marks, number = [], 0
    for row in table.rows:
        entries = [entry_of(row, target, scaled=False) for target in targets]
        for target, entry in zip(targets, entries, strict=True):
            listed += tell_entry(entry, row.student, target.heading)
            number += entry.state in (EntryState.POINTS, EntryState.EXCUSED)
        marks.append([row.student, row.name, *map(_entry_value, entries)])
    book = Workbook(write_only=True)
    book.properties.creator = "Softmark"
    heads = [clean_line(target.heading) for target in targets]
    _add_sheet(book, "marks", ["student", "name", *heads], marks)
    raw = [[row.student, row.name, *(_raw(row, c.id) for c in table.columns)] for row in table.rows]
    _add_sheet(book, "raw", ["student", "name", *(c.id for c in table.columns)], raw)
    why = [line for row in table.rows for line in _why(row)]
    _add_sheet(book, "why", ["student", "name", "column", "graded", "counts", "why", "comment"], why)
    items: list[list[_Value]] = [
        [c.id, c.title, c.assignment, c.item, plain_points(c.max_score)] for c in table.columns
    ]
    _add_sheet(book, "items", ["column", "title", "assignment", "item", "full points"], items)
    out = io.BytesIO()
    book.save(out)
    return GradebookFile(out.getvalue(), {t.heading: t.ids for t in targets}, number, tuple(listed))


def _entry_value(entry: GradebookEntry) -> _Value:
    if entry.points is not None:
        return plain_points(entry.points)
    return _WORDS.get(entry.state, str(entry.state))


def _raw(row: StudentRow, column: str) -> _Value:
    cell = row.cells.get(column)
    if cell is None or cell.outcome is None:
        return ""
    return _NO_SCORE.get(cell.outcome, "") if cell.score is None else plain_points(cell.score)


def _why(row: StudentRow) -> list[list[_Value]]:
    return [
        [
            row.student,
            row.name,
            column,
            _raw(row, column),
            "excused" if cell.mark.excused else "" if cell.counted is None else plain_points(cell.counted),
            "; ".join(cell.mark.why),
            cell.mark.comment,
        ]
        for column, cell in row.cells.items()
        if cell.mark is not None and cell.mark.reasons
    ]


def _add_sheet(book: Workbook, title: str, head: Sequence[str], rows: Sequence[Sequence[_Value]]) -> None:
    from openpyxl.utils import get_column_letter

    sheet = book.create_sheet(title)
    sheet.freeze_panes = "C2" if head[1] == "name" else "A2"
    for place, heading in enumerate(head):
        longest = max([len(heading), *(len(str(row[place])) for row in rows)])
        sheet.column_dimensions[get_column_letter(place + 1)].width = min(longest, _WIDEST) + 2
    sheet.append([_text(sheet, heading, bold=True) for heading in head])
    for row in rows:
        sheet.append([_text(sheet, value) if isinstance(value, str) else value for value in row])


def _text(sheet: Any, text: str, *, bold: bool = False) -> Any:
    """Return a text cell, whatever the text looks like: an id keeps its zeros, a formula stays text."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    if not text:
        return None
    # XML has no sign for these two, and a workbook with them is damaged.
    shown = clean_line(unicodedata.normalize("NFC", text), _LONGEST).translate(
        dict.fromkeys((0xFFFE, 0xFFFF))
    )
    cell = WriteOnlyCell(sheet, value=shown)
    cell.data_type = "s"
    cell.number_format = "@"
    # Excel takes it for text still after somebody has edited it.
    cell.quotePrefix = shown[:1] in {"=", "+", "-", "@"}
    if bold:
        cell.font = Font(bold=True)
    return cell


FORMAT = GradebookFormat("excel", frozenset(), excel_gradebook)
