"""Read the first sheet of an Excel workbook that holds anything, as rows of text.

openpyxl takes whole rows and lists into memory, so that all parts of the archive are counted before it
opens any of them.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import IO, Any
from xml.parsers.expat import ExpatError, ParserCreate

from engine.errors import IntakeError
from engine.intake.archive_formats import DAMAGE, count_entries
from engine.text.tables import DelimitedTable, TableRow, plain_cell

# The answers of 5,000 students in 40 columns take a few MiB; XML packs to a tenth.
_LARGEST = 8 * 2**20
_LARGEST_UNPACKED = 64 * 2**20
# Beyond these no class fits, and reading takes minutes.
_MOST_ROWS = 50_000
_MOST_COLUMNS = 1_000
_MOST_CELLS = 2_000_000
_CHUNK = 2**16
# A workbook has a dozen parts, and a few for each sheet and picture.
_MOST_PARTS = 1_000
# All that spreadsheets write; the others cost memory or need a library.
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# Elements by the part that they are in: what openpyxl needs for one differs by a factor of ten. A class of
# 5,000 with 40 answers each has 400,000 in its sheet.
_MOST_ELEMENTS = {"worksheets/": 600_000, "sharedStrings": 250_000}
_MOST_OTHERS = 30_000
_MOST_IN_ROW = 16_384  # a sheet has no more columns
# XML of a workbook is ten levels deep; expat keeps each open element in memory.
_DEEPEST = 64


def read_workbook(path: Path, name: str) -> DelimitedTable:
    """Read the first sheet that holds anything. Formulas are neither computed nor believed.

    Parameters
    ----------
    path : Path
    name : str
        Name as handed in, clean.

    Raises
    ------
    IntakeError
        It isn't a workbook, too large, protected by a password, or the library for workbooks is missing.
    """
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise IntakeError(
            "a workbook can't be read here: openpyxl is missing",
            where=name,
            next_step="pip install 'softmark[excel]', or save the table as CSV",
        ) from error
    _check(path, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what openpyxl doesn't keep (styles, menus) isn't asked for
        try:
            book = load_workbook(path, read_only=True, data_only=False, keep_links=False)
            try:
                rows = next(
                    (sheet_rows for sheet in book.worksheets if (sheet_rows := list(_rows(sheet, name)))), []
                )
            finally:
                book.close()
        except IntakeError:
            raise
        except Exception as error:  # damaged files make openpyxl raise whatever its parser meets
            raise _no_workbook(name) from error
    return DelimitedTable(name, tuple(rows))


def _check(path: Path, name: str) -> None:
    """Look at all of the archive before openpyxl does, which takes whole rows and lists into memory.

    ``zipfile`` unpacks no more than an entry declares.
    """
    try:
        with path.open("rb") as file:
            if count_entries(file) > _MOST_PARTS:
                raise _too_large(name, f"at most {_MOST_PARTS} parts")
            with zipfile.ZipFile(file) as archive:
                entries = archive.infolist()
                unpacked = sum(entry.file_size for entry in entries)
                if path.stat().st_size > _LARGEST or unpacked > _LARGEST_UNPACKED:
                    raise _too_large(name, "at most 8 MiB, 64 MiB unpacked")
                if any(entry.compress_type not in _METHODS for entry in entries):
                    raise _no_workbook(name)
                scan = _Scan(name)
                for entry in entries:
                    if entry.filename.lower().endswith((".xml", ".rels")):
                        with archive.open(entry) as part:
                            scan.read(part, entry.filename)
    except (*DAMAGE, OSError, ExpatError) as error:
        raise _no_workbook(name) from error


class _Scan:
    # It keeps nothing: a part may hold millions of elements.
    def __init__(self, name: str) -> None:
        self._name = name
        self._all = 0

    def read(self, part: IO[bytes], filename: str) -> None:
        """Read one part.

        Raises
        ------
        IntakeError
            It has more elements than openpyxl reads in a few seconds, or declares entities.
        ExpatError
            It isn't XML.
        """
        most = next((most for word, most in _MOST_ELEMENTS.items() if word in filename), _MOST_OTHERS)
        count = in_row = depth = 0

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal count, in_row, depth
            count, in_row, depth = count + 1, in_row + 1, depth + 1
            if tag.rpartition(":")[2] == "row" or "worksheets/" not in filename:
                in_row = 0
            if count > most or self._all + count > _MOST_ELEMENTS["worksheets/"]:
                raise _too_large(self._name, f"at most {_MOST_ELEMENTS['worksheets/']:,} cells and texts")
            # A cell has up to four elements: itself, its value, and texts in it.
            if in_row > 4 * _MOST_IN_ROW or depth > _DEEPEST:
                raise _too_large(self._name, f"at most {_MOST_IN_ROW:,} cells in a row")

        def end(tag: str) -> None:
            nonlocal depth
            depth -= 1

        def refuse(*declaration: object) -> None:
            raise _no_workbook(self._name)

        parser = ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.StartDoctypeDeclHandler = refuse
        while chunk := part.read(_CHUNK):
            parser.Parse(chunk)
        parser.Parse(b"", True)
        self._all += count


def _too_large(name: str, expected: str) -> IntakeError:
    return IntakeError(
        "the workbook is too large",
        where=name,
        expected=expected,
        next_step="save the sheet with the answers alone, as CSV",
    )


def _no_workbook(name: str) -> IntakeError:
    return IntakeError(
        "this isn't a workbook that can be read",
        where=name,
        expected="an Excel file (.xlsx) without a password",
        next_step="open it in the spreadsheet and save it again, or save it as CSV",
    )


def _rows(sheet: Any, name: str) -> Iterator[TableRow]:
    from openpyxl.worksheet._reader import WorkSheetParser

    # What iter_rows does, without its making up the rows and cells that a file leaves out: a file that names
    # the last row of a sheet would be a million rows.
    with sheet._get_source() as source:
        book = sheet.parent
        parser = WorkSheetParser(
            source,
            sheet._shared_strings,
            data_only=book.data_only,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        cells_read = 0
        for count, (line, cells) in enumerate(parser.parse(), start=1):
            if count > _MOST_ROWS:
                message, most = "the workbook holds too many rows", _MOST_ROWS
                raise IntakeError(message, where=f"{name}:{line}", expected=f"at most {most}")
            texts = {
                cell["column"]: text
                for cell in cells
                if cell["column"] <= _MOST_COLUMNS and (text := _text(cell["value"]))
            }
            width = max(texts, default=0)
            # What a row leaves out is made up up to its last cell, so that single far cells count as rows.
            cells_read += width
            if cells_read > _MOST_CELLS:
                raise _too_large(name, f"at most {_MOST_CELLS:,} cells")
            if width:
                yield TableRow(line, tuple(texts.get(column, "") for column in range(1, width + 1)))


def _text(value: object) -> str:
    # Dates come as ISO has them, so that they can be told from answers.
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        # Excel keeps fractions of a day, and these miss the second by a little.
        return datetime.isoformat(value, sep=" ", timespec="seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    return plain_cell(str(value))
