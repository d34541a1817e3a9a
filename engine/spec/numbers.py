"""Numbers of a YAML file, with the digits that the file shows."""

from __future__ import annotations

import math
import re
from typing import Self

from engine.plurals import counted

__all__ = ["NULLS", "WrittenFloat", "read_scalar"]

_MAX_DIGITS = 100
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITY = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_NAN = re.compile(r"\.(?:nan|NaN|NAN)")
_WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
NULLS = frozenset(word for word, value in _WORDS.items() if value is None)
"""What means nothing at all, unless it is quoted."""


class WrittenFloat(float):
    """A float that remembers its digits, so that ``Decimal(str(x))`` is what the file says.

    Examples
    --------
    >>> str(WrittenFloat("0.10"))
    '0.10'
    """

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """Read the float from its text."""
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type[WrittenFloat], tuple[str]]:
        return type(self), (self.text,)


def read_scalar(text: str) -> str | int | float | bool | None:
    """Return what a plain (unquoted) value means in YAML 1.2's core schema.

    ``yes``, ``no``, ``on``, ``off``, dates and ``12:30:45`` are text, ``010`` is ten, ``0o10`` eight.

    Raises
    ------
    ValueError
        For a number that is too long or too large to be meant.
    """
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(_bounded(text))
    if _OCTAL.fullmatch(text):
        return int(_bounded(text)[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return int(_bounded(text)[2:], 16)
    if _FLOAT.fullmatch(text):
        number = WrittenFloat(_bounded(text))
        if math.isinf(number):
            raise ValueError(f"the number {text} is too large")
        return number
    if _INFINITY.fullmatch(text):
        return WrittenFloat(text.replace(".", "").lower())
    if _NAN.fullmatch(text):
        return WrittenFloat("nan")
    return text


def _bounded(text: str) -> str:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"a number of {counted(len(text), 'character')} is too long; at most {_MAX_DIGITS}")
    return text
