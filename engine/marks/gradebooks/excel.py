"""An Excel workbook: marks as they count, marks as graded, why they differ, and the items. No formulas.

Every text is written as a text cell, so that an id keeps its zeros and foreign text never runs.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engine.errors import UsageError
from engine.marks.class_table import StudentRow
from engine.marks.gradebooks.cells import (
    CellValue,
    EntryState,
    entry_notices,
    entry_of,
    entry_value,
    graded_value,
)
from engine.marks.gradebooks.columns import column_targets, named_targets
from engine.marks.gradebooks.formats import GradebookFile, GradebookFormat, GradebookNotice, GradebookRequest
from engine.text.words import clean_line, plain_points

if TYPE_CHECKING:
    from openpyxl import Workbook

_LONGEST = 32_000  # a cell holds 32,767 characters
_WIDEST = 60  # a reason can have hundreds of characters: no screen shows a column of that width
_NO_XML = dict.fromkeys((0xFFFE, 0xFFFF))  # XML can't hold these two: a workbook with them is damaged


def _excel_gradebook(request: GradebookRequest) -> GradebookFile:
    """Return the gradebook as a workbook with the sheets ``marks``, ``raw``, ``why`` and ``items``.

    Ids and all other texts are text cells, marks are numbers; what has no mark is blank or a word.
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
    notices: list[GradebookNotice] = []
    marks, number = [], 0
    for row in table.rows:
        entries = [entry_of(row, target, scaled=False) for target in targets]
        for target, entry in zip(targets, entries, strict=True):
            notices += entry_notices(entry, row.student, target.heading)
            number += entry.state in (EntryState.POINTS, EntryState.EXCUSED)
        marks.append([row.student, row.name, *map(entry_value, entries)])
    book = Workbook(write_only=True)  # rows are written as they come, not kept in memory
    book.properties.creator = "Softmark"
    heads = [clean_line(target.heading) for target in targets]
    _add_sheet(book, "marks", ["student", "name", *heads], marks)
    raw = [
        [row.student, row.name, *(graded_value(row.cells.get(c.id)) for c in table.columns)]
        for row in table.rows
    ]
    _add_sheet(book, "raw", ["student", "name", *(c.id for c in table.columns)], raw)
    why = [line for row in table.rows for line in _why(row)]
    _add_sheet(book, "why", ["student", "name", "column", "graded", "counts", "why", "comment"], why)
    items: list[list[CellValue]] = [
        [c.id, c.title, c.assignment, c.item, plain_points(c.max_score)] for c in table.columns
    ]
    _add_sheet(book, "items", ["column", "title", "assignment", "item", "full points"], items)
    out = io.BytesIO()
    book.save(out)
    return GradebookFile(out.getvalue(), {t.heading: t.ids for t in targets}, number, tuple(notices))


def _why(row: StudentRow) -> list[list[CellValue]]:
    return [
        [
            row.student,
            row.name,
            column,
            graded_value(cell),
            "excused" if cell.mark.excused else "" if cell.counted is None else plain_points(cell.counted),
            "; ".join(cell.mark.why),
            cell.mark.comment,
        ]
        for column, cell in row.cells.items()
        if cell.mark is not None and cell.mark.reasons
    ]


def _add_sheet(book: Workbook, title: str, head: Sequence[str], rows: Sequence[Sequence[CellValue]]) -> None:
    from openpyxl.utils import get_column_letter

    sheet = book.create_sheet(title)
    sheet.freeze_panes = "C2" if head[1] == "name" else "A2"  # heads stay in view, and who a row is about
    for place, heading in enumerate(head):
        # A write-only sheet can't fit its columns afterwards: the widths come first.
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
    value = clean_line(unicodedata.normalize("NFC", text), _LONGEST).translate(_NO_XML)
    cell = WriteOnlyCell(sheet, value=value)
    cell.data_type = "s"
    cell.number_format = "@"
    # With the prefix, Excel still takes it for text after somebody has edited it.
    cell.quotePrefix = value[:1] in {"=", "+", "-", "@"}
    if bold:
        cell.font = Font(bold=True)
    return cell


FORMAT = GradebookFormat("excel", frozenset(), _excel_gradebook)
