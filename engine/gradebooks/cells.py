"""Cells of text files: nothing that a spreadsheet would run, hide or change."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence

from engine.course.delimited import plain_cell
from engine.foreign import begins_formula, csv_cell
from engine.model import plain_points

__all__ = ["csv_bytes", "id_cell", "is_number", "kept_cell", "number_cell", "text_cell"]

_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?\s?%?")
# "-1 for style": no spreadsheet can take it for a formula.
_REMARK = re.compile(r"[+-][0-9]+([.,][0-9]+)?%? [^\W\d_][^=|!(+@]*")
# Zeros at the front, more digits than a spreadsheet keeps, what it takes for a power of ten or for a date.
_CHANGED = re.compile(
    r"0[0-9]+|[0-9]{12,}|[0-9]+[eE][0-9]+|[0-9]{1,4}([-./][0-9]{1,4}){1,2}|[0-9]{1,2}-?[A-Za-z]{3,9}(-?[0-9]+)?"
)


def is_number(text: str) -> bool:
    """Tell whether a cell is a plain number, signed or not: it is no formula then."""
    return bool(_NUMBER.fullmatch(text.strip()))


def text_cell(text: str) -> str:
    """Return foreign text as a cell: on one line, composed (NFC), nothing hidden, never a formula."""
    return csv_cell(unicodedata.normalize("NFC", text))


def id_cell(text: str, *, protect: bool) -> str:
    """Return an id as a cell; with `protect` as ``="007"`` where a spreadsheet would change it."""
    cell = text_cell(text)
    return f'="{cell}"' if protect and _CHANGED.fullmatch(cell) else cell


def number_cell(value: float, *, decimal_comma: bool = False) -> str:
    """Return points as a cell: at most 4 decimals, no exponent."""
    points = plain_points(value)
    text = str(points) if isinstance(points, int) else f"{points:.4f}".rstrip("0")
    return text.replace(".", ",") if decimal_comma else text


def kept_cell(text: str) -> str:
    """Return a cell of somebody else's file as it is, unless a spreadsheet would run it."""
    start = text.lstrip(" ")
    if not begins_formula(start) or is_number(text) or _REMARK.fullmatch(start):
        return text
    # A sign alone is no formula: Moodle writes "-" where there is no grade.
    if len(start.strip()) == 1:
        return text
    return text_cell(plain_cell(text))


def csv_bytes(rows: Iterable[Sequence[str]], *, delimiter: str = ",", marked: bool = False) -> bytes:
    """Return rows as CSV (RFC 4180, UTF-8).

    Parameters
    ----------
    rows : iterable of sequence of str
    delimiter : str
    marked : bool
        Begin with a byte order mark, by which Excel knows UTF-8.
    """
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return out.getvalue().encode("utf-8-sig" if marked else "utf-8", "replace")
