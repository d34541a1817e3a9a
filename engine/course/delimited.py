"""Tables as text, the way spreadsheets and learning systems save them: every row with its line."""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Diagnostic, InputError

__all__ = ["Delimited", "Row", "plain_cell", "read_delimited"]

_LIMIT = 8 * 2**20
# Bounds for files that are no tables: each quotation mark that stays open costs this many lines.
_LONGEST_RECORD = 200
_MOST_FAULTS = 100
_SEPARATOR = re.compile(r"sep=([,;\t])")  # Excel's own first line
_QUOTED = re.compile(r'"[^"]*"')
_KEPT_AS_TEXT = re.compile(r'="(.*)"', re.DOTALL)
_NEUTRALISED = re.compile(r"'(?=[=+\-@])")


@dataclass(frozen=True, slots=True)
class Row:
    """One row that isn't empty: its first line (from 1), its cells, and that line as it stands.

    ``raw`` holds the cells exactly as the file has them.
    """

    line: int
    cells: tuple[str, ...]
    source: str = ""
    raw: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delimited:
    """The rows of a file, and the lines that are no rows.

    ``marked`` tells whether it begins with the byte order mark of UTF-8.
    """

    file: str
    rows: tuple[Row, ...]
    faults: tuple[Diagnostic, ...] = ()
    delimiter: str = ","
    marked: bool = False


def plain_cell(text: str) -> str:
    """Return a cell in NFC without blanks around it, and without what marks a text for a spreadsheet.

    ``="007"`` is 007, and ``'-1`` is -1: an apostrophe keeps a formula from being one.
    """
    plain = unicodedata.normalize("NFC", text).strip()
    kept = _KEPT_AS_TEXT.fullmatch(plain)
    return _NEUTRALISED.sub("", kept[1].strip() if kept else plain, count=1)


def read_delimited(path: Path, *, noun: str, error: type[InputError], file: str | None = None) -> Delimited:
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
        Of class `error`: it can't be read, is larger than 8 MiB, or is no text.
    """
    where = str(path) if file is None else file
    try:
        with path.open("rb") as stream:
            data = stream.read(_LIMIT + 1)
    except OSError as fault:
        raise error(f"{noun} can't be read", where=where, got=fault.strerror or str(fault)) from fault
    if len(data) > _LIMIT:
        raise error(f"{noun} is too large", where=where, expected="at most 8 MiB")
    text = _decode(data)
    if text is None:
        raise error(
            f"{noun} is no text file",
            where=where,
            expected="CSV",
            next_step="save it as CSV (UTF-8) in the spreadsheet",
        )
    lines = list(io.StringIO(text, newline=""))
    faults: list[Diagnostic] = []
    delimiter = _delimiter(lines)
    rows = tuple(_rows(lines, delimiter, where, faults))
    return Delimited(where, rows, tuple(faults), delimiter, data.startswith(codecs.BOM_UTF8))


def _encodings(data: bytes) -> list[str]:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ["utf-16"]
    # Without a mark, UTF-16 shows by the zeros that every second byte of a header is.
    head = data[:64]
    for zeros, encoding in ((head[1::2], "utf-16-le"), (head[::2], "utf-16-be")):
        if len(zeros) > 1 and zeros.count(0) > len(zeros) // 2:
            return [encoding]
    return ["utf-8-sig", "cp1252"]


def _decode(data: bytes) -> str | None:
    for encoding in _encodings(data):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    return None


def _delimiter(lines: Sequence[str]) -> str:
    head = next((line for line in lines if line.strip()), "")
    named = _SEPARATOR.fullmatch(head.strip().strip('"'))
    return named[1] if named else max(",;\t", key=_QUOTED.sub("", head).count)


def _rows(lines: Sequence[str], delimiter: str, file: str, faults: list[Diagnostic]) -> Iterator[Row]:
    is_first = True
    for line, found in _records(lines, delimiter):
        source = lines[line - 1].rstrip("\r\n")
        if isinstance(found, str):
            faults.append(Diagnostic(file, line, 1, found, source))
            continue
        cells = tuple(plain_cell(cell) for cell in found)
        if not any(cells) or (is_first and _SEPARATOR.fullmatch(delimiter.join(cells))):
            continue
        is_first = False
        yield Row(line, cells, source, tuple(found))


class _Feed:
    """Gives lines to the CSV reader, not endlessly many for one record."""

    def __init__(self, lines: Sequence[str], start: int) -> None:
        self._lines = lines
        self.begun = self.next = start

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.next >= len(self._lines):
            raise StopIteration
        if self.next - self.begun >= _LONGEST_RECORD:
            raise csv.Error("unexpected end of data")
        self.next += 1
        return self._lines[self.next - 1]


def _records(lines: Sequence[str], delimiter: str) -> Iterator[tuple[int, list[str] | str]]:
    """Yield every record with its first line; a text instead says why the line is none.

    Reading goes on behind a line that is none, so that a quotation mark costs one row and not the rest.
    """
    start = faults = 0
    while start < len(lines):
        feed = _Feed(lines, start)
        try:
            for record in csv.reader(feed, delimiter=delimiter, strict=True):
                yield feed.begun + 1, record
                feed.begun = feed.next
            return
        except csv.Error as error:
            start, faults = feed.begun + 1, faults + 1
            if faults == _MOST_FAULTS:
                yield start, "this line is no CSV, like many before it: nothing is read from here on"
                return
            yield start, f"this line is no CSV: {_why(str(error))}"


def _why(fault: str) -> str:
    if "expected after" in fault:
        return "a quotation mark isn't closed, or stands inside a cell without being doubled"
    return "a quotation mark is opened and not closed" if "end of data" in fault else fault
