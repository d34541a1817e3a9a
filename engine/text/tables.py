"""Tables as text, as spreadsheets and learning systems save them: read with every row's line, written as CSV.

Cells are text and stay as they are: an id ``007`` keeps its zeros, and nothing that is written can run as
a formula in the spreadsheet that opens it.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Diagnostic, InputError
from engine.text.files import read_bytes, utf16_as_utf8
from engine.text.words import clean_line, plain_points

# A gradebook of 5,000 students with 100 columns has 4 MiB.
_LIMIT = 8 * 2**20
# Bounds for files that aren't tables: each quotation mark that stays open costs this many lines.
_LONGEST_RECORD = 200
_MOST_FAULTS = 100
# No class and no gradebook has more; a file of nothing but commas is neither.
_MOST_ROWS = 100_000
_MOST_LINES = 500_000
_MOST_COLUMNS = 2_000
_MOST_CELLS = 2_000_000
_MOST_SEPARATORS = 10 * _MOST_COLUMNS  # of a line; some may stand in quoted texts
_SEPARATOR = re.compile(r"sep=([,;\t])")  # Excel's own first line
_QUOTED = re.compile(r'"[^"]*"')
# What surrounds a cell and isn't seen: blanks, and marks without width.
_BLANK = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
# Written by Excel users to keep leading zeros: `="007"`.
_KEPT_AS_TEXT = re.compile(r'="(.*)"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row that isn't empty: its first line (from 1), its cells, and that line as it stands.

    ``raw`` holds the cells exactly as the file has them.
    """

    line: int
    cells: tuple[str, ...]
    source: str = ""
    raw: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DelimitedTable:
    """The rows of a file, and the lines that aren't rows.

    ``marked`` says whether it begins with the byte order mark of UTF-8.
    """

    file: str
    rows: tuple[TableRow, ...]
    faults: tuple[Diagnostic, ...] = ()
    delimiter: str = ","
    marked: bool = False


def plain_cell(text: str) -> str:
    """Return a cell in NFC without blanks around it, and without what marks a text for a spreadsheet.

    ``="007"`` is 007, and ``'-1`` is -1: an apostrophe keeps a formula from being one. Marks without width,
    which come along where text is copied, go the way of blanks.
    """
    plain = unicodedata.normalize("NFC", text).strip(_BLANK)
    match = _KEPT_AS_TEXT.fullmatch(plain)
    text = match[1].strip() if match else plain
    # The other way round than csv_cell.
    return text[1:] if text.startswith("'") and begins_formula(text.lstrip("'")) else text


def read_delimited(
    path: Path, *, noun: str, error: type[InputError], file: str | None = None
) -> DelimitedTable:
    """Read a file of rows.

    UTF-8 and UTF-16 (with or without BOM) and, failing that, Windows-1252 are understood; columns are
    separated by commas, semicolons or tabs. A first line ``sep=;`` is obeyed. Every line of the file is in
    a row, in a fault, or empty; after 100 faults the rest is one fault.

    Parameters
    ----------
    path : Path
    noun : str
        What the file is called in messages: ``"the roster"``.
    error : type of InputError
        What to raise.
    file : str, optional
        Name in messages; the path by default.

    Raises
    ------
    InputError
        Of class `error`: it can't be read, is larger than 8 MiB, has more rows or columns than any class
        needs, or isn't text.
    """
    where = str(path) if file is None else file
    data = read_bytes(path, _LIMIT, error, name=where, noun=noun, may_be_empty=True)
    text = table_text(data)
    if text is None:
        raise error(
            f"{noun} isn't a text file",
            where=where,
            expected="CSV",
            next_step="save it as CSV (UTF-8) in the spreadsheet",
        )
    if text.count("\n") + text.count("\r") > _MOST_LINES:
        raise error(f"{noun} has too many lines", where=where, expected=f"at most {_MOST_LINES:,}")
    lines = list(io.StringIO(text, newline=""))
    faults: list[Diagnostic] = []
    delimiter = _delimiter(lines)
    try:
        rows = tuple(_rows(lines, delimiter, where, faults))
    except _TooMuch as fault:
        noun_plural, line, most = fault.args
        raise error(
            f"{noun} has too many {noun_plural}", where=f"{where}:{line}", expected=f"at most {most:,}"
        ) from None
    return DelimitedTable(where, rows, tuple(faults), delimiter, data.startswith(codecs.BOM_UTF8))


class _TooMuch(Exception):  # noqa: N818 - ends the reading
    """What there is too much of, the line where it is, and how many there may be."""


def table_text(data: bytes) -> str | None:
    """Return the text of a file as spreadsheets save it: UTF-8, UTF-16 or Windows-1252; None for no text."""
    data = utf16_as_utf8(data)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # and isn't
        return None
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        # One damaged row is a fault of its own; a file of another kind has no first line without zeros.
        if "\0" not in text or (encoding == "utf-8-sig" and _zeros_are_few(text)):
            return text
    return None


def _zeros_are_few(text: str) -> bool:
    return text.count("\0") < _MOST_FAULTS and "\0" not in text.lstrip().partition("\n")[0]


def _delimiter(lines: Sequence[str]) -> str:
    head = next((line for line in lines if line.strip()), "")
    named = _SEPARATOR.fullmatch(head.strip().strip('"'))
    return named[1] if named else max(",;\t", key=_QUOTED.sub("", head).count)


def _rows(lines: Sequence[str], delimiter: str, file: str, faults: list[Diagnostic]) -> Iterator[TableRow]:
    is_first = True
    count = cells_taken = 0
    for line, record in _records(lines, delimiter):
        source = lines[line - 1].rstrip("\r\n")
        if isinstance(record, str):
            faults.append(Diagnostic(file, line, 1, record, source))
            continue
        if len(record) > _MOST_COLUMNS:
            raise _TooMuch("columns", line, _MOST_COLUMNS)
        if any("\0" in cell for cell in record):
            message = "this line holds a NUL character, which no text has"
            faults.append(Diagnostic(file, line, 1, message, source.replace("\0", "\ufffd")))
            continue
        cells = tuple(plain_cell(cell) for cell in record)
        if not any(cells) or (is_first and _SEPARATOR.fullmatch(delimiter.join(cells))):
            continue
        is_first = False
        count, cells_taken = count + 1, cells_taken + len(cells)
        if count > _MOST_ROWS:
            raise _TooMuch("rows", line, _MOST_ROWS)
        if cells_taken > _MOST_CELLS:
            raise _TooMuch("cells", line, _MOST_CELLS)
        yield TableRow(line, cells, source, tuple(record))


class _Feed:
    # A quotation mark that is never closed would make one record of the rest of the file.
    def __init__(self, lines: Sequence[str], start: int, delimiter: str) -> None:
        self._lines = lines
        self._delimiter = delimiter
        self.begun = self.next = start

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.next >= len(self._lines):
            raise StopIteration
        if self.next - self.begun >= _LONGEST_RECORD:
            raise csv.Error("unexpected end of data")
        line = self._lines[self.next]
        if line.count(self._delimiter) > _MOST_SEPARATORS:
            raise _TooMuch("columns", self.next + 1, _MOST_COLUMNS)
        self.next += 1
        return line


def _records(lines: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str] | str]]:
    """Yield every record with its first line; a text instead says why the line is none.

    Reading goes on behind a line that is none, so that a quotation mark costs one row and not the rest.
    """
    start = faults = 0
    while start < len(lines):
        feed = _Feed(lines, start, delimiter)
        try:
            for record in csv.reader(feed, delimiter=delimiter, strict=True):
                yield feed.begun + 1, record
                feed.begun = feed.next
            return
        except csv.Error as error:
            start, faults = feed.begun + 1, faults + 1
            if faults == _MOST_FAULTS:
                yield start, "this line isn't valid CSV, like many before it: nothing is read from here on"
                return
            yield start, f"this line isn't valid CSV: {_why(str(error))}"


def _why(fault: str) -> str:
    if "expected after" in fault:
        return "a quotation mark isn't closed, or is inside a cell without being doubled"
    return "a quotation mark is opened and not closed" if "end of data" in fault else fault


# Cells of text files: nothing that a spreadsheet would run, hide or change.

_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]+)*|[.,][0-9]+)([eE][+-]?[0-9]+)?\s?%?")
# "-1 for style": no spreadsheet can take it for a formula.
_REMARK = re.compile(r"[+-][0-9]+([.,][0-9]+)?%? [^\W\d_][^=|!(+@]*")
# Zeros at the front, more digits than a spreadsheet keeps, what it takes for a power of ten or for a date.
_CHANGED = re.compile(
    r"0[0-9]+|[0-9]{12,}|[0-9]+[eE][0-9]+|[0-9]{1,4}([-./][0-9]{1,4}){1,2}|[0-9]{1,2}-?[A-Za-z]{3,9}(-?[0-9]+)?"
)


def is_number(text: str) -> bool:
    """Return whether a cell is a plain number, signed or not: it isn't a formula then."""
    return bool(_NUMBER.fullmatch(text.strip()))


def csv_cell(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; different lines stay different.

    An apostrophe before what would be one keeps it from it. What has that already gets one more, so that
    ``=1`` and ``'=1`` can be told apart.
    """
    line = clean_line(text, 32_000)
    return "'" + line if begins_formula(line.lstrip("'")) else line


def begins_formula(text: str) -> bool:
    """Return whether a spreadsheet may take a cell for a formula: full-width and small signs count too."""
    return unicodedata.normalize("NFKC", text[:1])[:1] in {"=", "+", "-", "@", "\t", "\r", "\n", "\u2212"}


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
    # A sign alone isn't a formula: Moodle writes "-" where there is no grade.
    if len(start.strip()) == 1:
        return text
    return text_cell(plain_cell(text))


def csv_text(rows: Iterable[Sequence[object]], *, delimiter: str = ",", quote_texts: bool = False) -> str:
    """Return rows as CSV (RFC 4180); the one writer of every table that Softmark makes.

    Parameters
    ----------
    rows : iterable of sequence
        Texts and numbers, the head first. Foreign text has been through :func:`text_cell`.
    delimiter : str
    quote_texts : bool
        Put every text into quotes and no number, so that an id such as ``007`` is seen to be a text.
    """
    out = io.StringIO()
    csv.writer(
        out,
        delimiter=delimiter,
        quoting=csv.QUOTE_NONNUMERIC if quote_texts else csv.QUOTE_MINIMAL,
        lineterminator="\r\n",
    ).writerows(rows)
    return out.getvalue()


def csv_bytes(rows: Iterable[Sequence[str]], *, delimiter: str = ",", marked: bool = False) -> bytes:
    """Return rows as a CSV file in UTF-8; `marked` with the byte order mark by which Excel knows UTF-8."""
    return csv_text(rows, delimiter=delimiter).encode("utf-8-sig" if marked else "utf-8", "replace")
