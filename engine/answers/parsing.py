"""Rows of numbers as people type them: brackets of any kind, commas or blanks, ``;`` or new lines.

Separators, in order of strength: brackets, then ``;`` and new lines (between rows), then commas, then
blanks.  Where an item allows the decimal comma, a comma between two digits is one, unless a
decimal point occurs as well; a chain such as ``1,2,3`` is then ambiguous and refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from engine.answers.reading.numeral import format_error, normal_signs, read_numeral
from engine.errors import ResponseFormatError
from engine.foreign import clean_line
from engine.plurals import counted

__all__ = ["MAX_TEXT", "Numbers", "read_numbers"]

MAX_TEXT = 10_000
MAX_ENTRIES = 1_000
_DEEPEST = 8

_WRAPPER = re.compile(
    r"(?:(?:np|numpy|torch)\.)?(?:array|tensor|matrix)\((?P<body>.*?)(?:,\s*(?:dtype|device)\s*=\s*[\w.'\":]+)*\)\Z",
    re.DOTALL,
)
_CALL = re.compile(r"(?<!\w)[0-9_]*+[A-Za-z]\w*+[ ]*+\(")
_TRANSPOSED = re.compile(r"(?:ᵀ|\^T|\^\{T\}|\.T)\Z")
_TOKEN = re.compile(r"[\[\](){}]|[,;\n]|[^\s\[\](){},;]+")
_OPENING, _CLOSING = "[({", "])}"
_CHAIN = re.compile(r"[0-9],[0-9]+,[0-9]")
_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")


@dataclass(frozen=True, slots=True)
class Numbers:
    """Rows of exact numbers.

    Parameters
    ----------
    rows : tuple of tuple of Fraction
        Perhaps of different lengths.
    is_flat : bool
        A single row that wasn't marked as one of several.
    has_glued_comma : bool
        A comma stood between two digits: perhaps it was meant as a decimal mark.
    """

    rows: tuple[tuple[Fraction, ...], ...]
    is_flat: bool
    has_glued_comma: bool = False

    @property
    def entries(self) -> tuple[Fraction, ...]:
        """All numbers in order."""
        return tuple(entry for row in self.rows for entry in row)

    def shape_words(self) -> str:
        """Return the shape as a person would say it."""
        sizes = [len(row) for row in self.rows]
        if self.is_flat:
            return counted(sizes[0], "number")
        if len(set(sizes)) > 1:
            return "rows of " + ", ".join(map(str, sizes)) + " numbers"
        return f"{len(sizes)} row{'s' * (len(sizes) > 1)} of {sizes[0]} number{'s' * (sizes[0] > 1)}"


def read_numbers(text: str, *, decimal_comma: bool = False) -> Numbers:
    """Read numbers in any layout.

    Parameters
    ----------
    text : str
        As typed; not blank.
    decimal_comma : bool
        Whether ``0,5`` means one half.

    Raises
    ------
    ResponseFormatError
        Something isn't a number, brackets don't match, or the text is too long.
    """
    if len(text) > MAX_TEXT:
        raise format_error(
            f"the answer has {counted(len(text), 'character')}; at most {MAX_TEXT} are read", text[:60]
        )
    body = _unwrapped(normal_signs(text).strip())
    turned = _TRANSPOSED.search(body)
    if turned is not None:
        body = body[: turned.start()].rstrip()
    if _CALL.search(body):
        raise format_error("expressions aren't computed here; type the numbers", text)
    glued = bool(_COMMA.search(body))
    if decimal_comma and glued:
        body = _with_points(body)
    body = re.sub(r"(?<=[0-9.])[ ]*/[ ]*(?=[0-9.+-])", "/", body)
    body = re.sub(r"(?:(?<=^)|(?<=[\[({,;\n]))([ ]*[+-]) +(?=[0-9.])", r"\1", body)
    rows, is_flat = _Layout(body, text).read()
    if turned is not None:
        rows, is_flat = _transposed(rows, text), False
    return Numbers(rows, is_flat, glued)


def _unwrapped(text: str) -> str:
    wrapper = _WRAPPER.match(text)
    return wrapper["body"].strip() if wrapper is not None else text


def _with_points(body: str) -> str:
    if re.search(r"[0-9]\.[0-9]|(?<![0-9])\.[0-9]", body):
        return body
    if _CHAIN.search(body):
        raise format_error(
            "commas between digits can be read in two ways here",
            body,
            expected="a blank or ; between entries, such as 0,1; 0,2; 0,7",
        )
    return _COMMA.sub(".", body)


def _transposed(rows: tuple[tuple[Fraction, ...], ...], text: str) -> tuple[tuple[Fraction, ...], ...]:
    if len({len(row) for row in rows}) != 1:
        raise format_error("the rows differ in length", text)
    return tuple(zip(*rows, strict=True))


class _Layout:
    """Splits a text into rows."""

    def __init__(self, body: str, typed: str) -> None:
        self._tokens = _TOKEN.findall(body)
        self._typed = typed
        self._count = 0

    def fault(self, what: str) -> ResponseFormatError:
        return format_error(what, self._typed)

    def read(self) -> tuple[tuple[tuple[Fraction, ...], ...], bool]:
        """Return the rows, and whether they are one row not marked as such."""
        self._check_brackets()
        tokens = self._tokens
        depth = 0
        while self._is_enclosed(tokens):
            tokens = tokens[1:-1]
            depth += 1
        if depth > 2:
            raise self.fault("the brackets are nested deeper than a matrix")
        if any(token in _OPENING for token in tokens):
            return self._bracketed(tokens), False
        rows = self._split_rows(tokens)
        return rows, len(rows) == 1 and depth < 2

    def _check_brackets(self) -> None:
        stack: list[str] = []
        deepest = 0
        for token in self._tokens:
            if token in _OPENING:
                stack.append(token)
                deepest = max(deepest, len(stack))
            elif token in _CLOSING and (not stack or _OPENING.index(stack.pop()) != _CLOSING.index(token)):
                raise self.fault("the brackets don't match")
        if stack:
            raise self.fault("a bracket isn't closed")
        if deepest > _DEEPEST:  # each further one would cost a look at all tokens
            raise self.fault("the brackets are nested deeper than a matrix")

    def _is_enclosed(self, tokens: list[str]) -> bool:
        if len(tokens) < 2 or tokens[0] not in _OPENING:
            return False
        depth = 0
        for i, token in enumerate(tokens):
            depth += (token in _OPENING) - (token in _CLOSING)
            if depth == 0:
                return i == len(tokens) - 1
        return False

    def _bracketed(self, tokens: list[str]) -> tuple[tuple[Fraction, ...], ...]:
        """Read a sequence of bracketed rows, with nothing but separators between them."""
        rows: list[tuple[Fraction, ...]] = []
        inside: list[str] | None = None
        separators = 0
        for token in tokens:
            if token in _OPENING:
                if inside is not None:
                    raise self.fault("the brackets are nested deeper than a matrix")
                inside, separators = [], 0
            elif token in _CLOSING:
                rows.append(self._entries(inside or []))
                inside = None
            elif inside is not None:
                inside.append(token)
            elif token in (",", ";"):
                separators += 1
                if separators > 1:
                    raise self.fault("a row is missing between two separators")
            elif token != "\n":
                raise self.fault(
                    f"{clean_line(token, 20)} stands outside the brackets; type the numbers only"
                )
        return tuple(rows)

    def _split_rows(self, tokens: list[str]) -> tuple[tuple[Fraction, ...], ...]:
        """Split at ``;`` and new lines; a new line after a comma only continues the row."""
        rows: list[list[str]] = [[]]
        for token in tokens:
            if token == ";":
                if not rows[-1]:
                    raise self.fault("a row is empty")
                rows.append([])
            elif token == "\n":
                if rows[-1] and rows[-1][-1] != ",":
                    rows.append([])
            else:
                rows[-1].append(token)
        if len(rows) > 1 and not rows[-1]:
            rows.pop()  # a separator at the very end
        return tuple(self._entries(row) for row in rows)

    def _entries(self, tokens: list[str]) -> tuple[Fraction, ...]:
        entries: list[Fraction] = []
        after_comma = True
        for token in tokens:
            if token == ",":
                if after_comma:
                    raise self.fault("an entry is missing before a comma")
                after_comma = True
            elif token == "\n":
                continue
            elif token == ";":
                raise self.fault("; stands inside the brackets of a row")
            else:
                entries.append(read_numeral(token))
                after_comma = False
                self._count += 1
                if self._count > MAX_ENTRIES:
                    raise self.fault(f"more than {MAX_ENTRIES} numbers")
        if after_comma:
            raise self.fault("an entry is missing after a comma" if entries else "there are no numbers in it")
        return tuple(entries)
