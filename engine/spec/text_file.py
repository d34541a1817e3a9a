"""Reads a text file that a person wrote: bounded, UTF-8, and one clear sentence when it isn't."""

from __future__ import annotations

import codecs
import errno
import os
import re
from functools import lru_cache
from pathlib import Path

from engine.errors import Diagnostic, InputError, SpecError
from engine.files import read_bounded, utf16_as_utf8
from engine.foreign import visible

__all__ = [
    "MAX_BYTES",
    "check_text",
    "decode_text",
    "find_control_character",
    "read_text",
    "shown",
    "source_line",
]

MAX_BYTES = 2**20
"""The largest file that is read: 1 MiB."""

# What YAML can't hold, and line ends that editors don't show as such.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_LINE_END = re.compile(r"\r\n|\r|\n")


def shown(text: str, limit: int = 60) -> str:
    """Return foreign text fit for one line of a message: no control characters, cut to ``limit``."""
    text = visible(text[: limit + 1]).replace("\n", "\ufffd")
    return text if len(text) <= limit else text[: limit - 1] + "…"


@lru_cache(maxsize=8)  # one line may have many faults, and be as long as the file
def source_line(text: str, line: int) -> str:
    """Return line ``line`` (from 1) of a text as it may be printed; empty beyond the end."""
    lines = _lines(text)
    return visible(lines[line - 1]) if 0 < line <= len(lines) else ""


@lru_cache(maxsize=2)  # a file with many faults is split once
def _lines(text: str) -> tuple[str, ...]:
    return tuple(_LINE_END.split(text))


def read_text(path: Path, error: type[InputError] = SpecError, filename: str | None = None) -> str:
    """Return the text of a file of at most :data:`MAX_BYTES`.

    Parameters
    ----------
    path : Path
        An ordinary file; a folder, a pipe or a device is refused unread.
    error : type of InputError
        What is raised.
    filename : str, optional
        Name in messages; the path if left out.

    Raises
    ------
    InputError
        Of class ``error``: the file can't be read, is too large, or isn't text in UTF-8 or UTF-16.
    """
    name = shown(str(path), 300) if filename is None else filename
    try:
        data = read_bounded(path, MAX_BYTES)
    except (OSError, ValueError) as problem:
        why = _reason(problem)
        raise error.of_file([Diagnostic(name, 1, 1, why)]) from None
    return decode_text(data, name, error)


def _reason(problem: OSError | ValueError) -> str:
    if isinstance(problem, FileNotFoundError | NotADirectoryError):
        return "there is no such file"
    if isinstance(problem, IsADirectoryError) or getattr(problem, "errno", None) == errno.EINVAL:
        return "this isn't a file"
    if isinstance(problem, PermissionError):
        return "this file may not be read; check its permissions"
    if isinstance(problem, OSError) and problem.errno is not None:
        return f"this file can't be read: {os.strerror(problem.errno)}"
    return "this isn't a possible file name"


def decode_text(data: bytes, filename: str, error: type[InputError] = SpecError) -> str:
    """Return UTF-8 or UTF-16 bytes as text, a byte order mark taken off.

    Raises
    ------
    InputError
        Of class ``error``: too large, UTF-32, binary, another encoding, or characters that no text needs.
    """

    def refuse(message: str, line: int = 1, column: int = 1, text: str = "") -> InputError:
        return error.of_file([Diagnostic(filename, line, column, message, source_line(text, line))])

    if len(data) > MAX_BYTES:
        raise refuse(f"the file is larger than {MAX_BYTES // 2**20} MiB, the most that is read")
    data = utf16_as_utf8(data)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise refuse("the file begins as UTF-16 text and isn't; save it as UTF-8")
    if b"\0" in data:
        raise refuse("the file holds zero bytes: it is binary or UTF-16; save it as UTF-8 text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = data[: problem.start].decode("utf-8-sig", errors="replace")
        line, column = _place(before, len(before))
        message = f"byte 0x{data[problem.start]:02X} isn't UTF-8 text; save the file with the encoding UTF-8"
        raise refuse(message, line, column, before) from None
    return check_text(text, filename, error)


def find_control_character(text: str) -> int | None:
    """Return where the first character stands that no text of ours may hold, None if there is none."""
    bad = _FORBIDDEN.search(text)
    return bad.start() if bad else None


def check_text(text: str, filename: str, error: type[InputError] = SpecError) -> str:
    """Return the text if every character may stand in a file that a person writes.

    Raises
    ------
    InputError
        Of class ``error``, at the first control character or invisible line end.
    """
    index = find_control_character(text)
    if index is None:
        return text
    line, column = _place(text, index)
    name = f"U+{ord(text[index]):04X}"
    message = f"the invisible character {name} can't stand in this file; delete it"
    raise error.of_file([Diagnostic(filename, line, column, message, source_line(text, line))])


def _place(text: str, index: int) -> tuple[int, int]:
    lines = _LINE_END.split(text[:index])
    return len(lines), len(lines[-1]) + 1
