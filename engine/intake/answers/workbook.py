"""An Excel workbook → the rows of its first sheet that holds any, as text."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from engine.course.delimited import Delimited, Row, plain_cell
from engine.errors import IntakeError

__all__ = ["read_workbook"]

_LARGEST = 8 * 2**20
_LARGEST_UNPACKED = 64 * 2**20
_MOST_ROWS = 50_000
_MOST_COLUMNS = 1_000


def read_workbook(path: Path, name: str) -> Delimited:
    """Read the first sheet that holds anything. Formulas are neither computed nor believed.

    Parameters
    ----------
    path : Path
    name : str
        Name as handed in, clean.

    Raises
    ------
    IntakeError
        It is no workbook, too large, protected by a password, or the library for workbooks is missing.
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
                rows = next((found for sheet in book.worksheets if (found := list(_rows(sheet, name)))), [])
            finally:
                book.close()
        except IntakeError:
            raise
        except Exception as error:  # damaged files make openpyxl raise whatever its parser meets
            raise _no_workbook(name) from error
    return Delimited(name, tuple(rows))


def _check(path: Path, name: str) -> None:
    """Look at the archive before anything is unpacked; ``zipfile`` unpacks no more than it declares."""
    try:
        size = path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        raise _no_workbook(name) from error
    if size > _LARGEST or unpacked > _LARGEST_UNPACKED:
        raise IntakeError("the workbook is too large", where=name, expected="at most 8 MiB, 64 MiB unpacked")


def _no_workbook(name: str) -> IntakeError:
    return IntakeError(
        "this is no workbook that can be read",
        where=name,
        expected="an Excel file (.xlsx) without a password",
        next_step="open it in the spreadsheet and save it again, or save it as CSV",
    )


def _rows(sheet: Any, name: str) -> Iterator[Row]:
    sheet.reset_dimensions()  # what a file says of its own size may be wrong
    for line, cells in enumerate(sheet.iter_rows(max_col=_MOST_COLUMNS), start=1):
        if line > _MOST_ROWS:
            raise IntakeError(
                "the workbook holds too many rows", where=f"{name}:{line}", expected=f"at most {_MOST_ROWS}"
            )
        texts = [_text(cell.value) for cell in cells]
        while texts and not texts[-1]:
            texts.pop()
        if texts:
            yield Row(line, tuple(texts))


def _text(value: object) -> str:
    """Return a cell as a person reads it; dates as ISO has them, so that they are told from answers."""
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
