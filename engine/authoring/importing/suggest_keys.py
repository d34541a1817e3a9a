"""The numbers, vectors and matrices of a text, as people write them in words and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Value", "find_values", "read_value"]

_MAX_TEXT = 6000
_MAX_VALUES = 10
_MAX_SIDE = 16
# Possessive throughout: no part gives back what it has read, so that a text is read in linear time.
_NUMBER = r"[-+]?(?:\d{1,12}+(?:\.\d{0,12}+)?+|\.\d{1,12}+)(?:[eE][-+]?\d{1,2}+)?+"
_ONE = re.compile(_NUMBER)
_GAP = r"(?:\s*+[,;]\s*+|\s++)"
_ROW = rf"[\[(]\s*+{_NUMBER}(?:{_GAP}{_NUMBER}){{0,{_MAX_SIDE}}}+\s*+[,;]?\s*+[\])]"
_VECTOR = re.compile(rf"[\[(]\s*+({_NUMBER}(?:{_GAP}{_NUMBER}){{1,{_MAX_SIDE}}}+)\s*+[\])]")
_ROWS = re.compile(rf"[\[(]\s*+({_ROW}(?:{_GAP}{_ROW}){{0,{_MAX_SIDE}}}+)\s*+[\])]")
_MATRIX = re.compile(
    r"\\begin\s*\{([bpvBV]?matrix|array)\}(?:\{[lcr| ]*\})?(.{0,1500}?)\\end\s*\{\1\}", re.DOTALL
)
_SERIES = re.compile(
    rf"(?<![\w.^_{{])({_NUMBER}(?:,\s+{_NUMBER}){{1,14}}(?:,?\s+(?:and|und|or|&)\s+{_NUMBER})?)(?![\w^])"
)
_PAIR = re.compile(rf"(?<![\w.^_{{])({_NUMBER}\s+(?:and|und)\s+{_NUMBER})(?![\w^])")
_SCALAR = re.compile(rf"(?<![\w.^_{{])({_NUMBER})(?![\w^]|\.\d)")
_ROUNDING = re.compile(
    r"(?<!\d)\d++\s*+(?:decimal|digit|place|significant|Nachkomma|Dezimal|Stelle|décimale|cifra|decimali)\w*+",
    re.IGNORECASE,
)
_NOISE = re.compile(r"(?<!\\)\\(?:left|right|bigl?|bigr?|displaystyle|quad|qquad|[,;:! ])(?![A-Za-z])|~")


@dataclass(frozen=True, slots=True)
class Value:
    """A number, vector or matrix with the digits that the text shows.

    Parameters
    ----------
    rows : tuple of tuple of str
        The entries; one row for a vector, one entry in it for a number.
    kind : str
        ``number``, ``vector`` or ``matrix``.
    """

    kind: str
    rows: tuple[tuple[str, ...], ...]

    @property
    def expression(self) -> str:
        """The value as an expression writes it."""
        if self.kind == "number":
            return self.rows[0][0]
        rows = ["[" + ", ".join(row) + "]" for row in self.rows]
        return rows[0] if self.kind == "vector" else "[" + ", ".join(rows) + "]"

    @property
    def size(self) -> int:
        """Number of entries of a vector, of rows of a matrix."""
        return len(self.rows[0]) if self.kind == "vector" else len(self.rows)


def find_values(text: str) -> list[Value]:
    """Return the values of a text, vectors and matrices first; each once."""
    text = _ROUNDING.sub(" ", _normal(text))
    found: list[Value] = []
    for pattern, read in (
        (_MATRIX, _from_matrix),
        (_ROWS, _from_rows),
        (_VECTOR, _from_series),
        (_SERIES, _from_series),
        (_PAIR, _from_series),
        (_SCALAR, _from_series),
    ):
        found += [value for match in pattern.finditer(text) for value in read(match)]
        # a pair may be two numbers as well
        text = text if pattern is _PAIR else pattern.sub(" ; ", text)
    return list(dict.fromkeys(found))[:_MAX_VALUES]


def read_value(text: str) -> Value | None:
    """Return the value that a text is, None if it is anything else."""
    text = _normal(text).strip().strip("$").strip()
    if _ONE.fullmatch(text):
        return Value("number", ((_digits(text),),))
    for pattern, read in ((_MATRIX, _from_matrix), (_ROWS, _from_rows), (_VECTOR, _from_series)):
        match = pattern.fullmatch(text.removesuffix("^T").removesuffix("^\\top").strip())
        if match is not None:
            return next(iter(read(match)), None)
    return None


def _normal(text: str) -> str:
    text = text[:_MAX_TEXT].replace("\u2212", "-").replace("−", "-")
    return _NOISE.sub(" ", text)


def _digits(number: str) -> str:
    number = number.lstrip("+")
    whole = re.sub(r"^(-?)\.", r"\g<1>0.", number)
    return whole.rstrip(".") if whole.endswith(".") else whole.replace(".e", "e").replace(".E", "E")


def _numbers(text: str) -> tuple[str, ...]:
    return tuple(_digits(found[0]) for found in _ONE.finditer(text))


def _from_matrix(match: re.Match[str]) -> Iterator[Value]:
    rows = [row for row in match[2].split("\\\\") if row.strip()]
    cells = [[cell.strip() for cell in row.split("&")] for row in rows]
    if all(_ONE.fullmatch(cell) for row in cells for cell in row):
        yield from _shaped([tuple(map(_digits, row)) for row in cells])


def _from_rows(match: re.Match[str]) -> Iterator[Value]:
    yield from _shaped([_numbers(row) for row in re.findall(_ROW, match[1])])


def _from_series(match: re.Match[str]) -> Iterator[Value]:
    yield from _shaped([_numbers(match[1])])


def _shaped(rows: list[tuple[str, ...]]) -> Iterator[Value]:
    """Yield the value of some rows: a column is a vector, and so is a single row."""
    if not rows or not rows[0] or len({len(row) for row in rows}) != 1 or len(rows) > _MAX_SIDE:
        return
    if len(rows[0]) > _MAX_SIDE or any(len(entry) > 16 for row in rows for entry in row):
        return
    if len(rows) > 1 and len(rows[0]) == 1:
        rows = [tuple(row[0] for row in rows)]
    if len(rows) > 1:
        yield Value("matrix", tuple(rows))
    else:
        yield Value("vector" if len(rows[0]) > 1 else "number", tuple(rows))
