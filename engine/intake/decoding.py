"""Bytes that a person handed in → text, or one clear message.

UTF-8 (with or without BOM) is read. A Python coding cookie is honoured for ordinary text
encodings. Everything else is refused rather than guessed: a guess would change what was handed in.
"""

from __future__ import annotations

import codecs
import errno
import re
from pathlib import Path

from engine.errors import InputError, SubmissionError
from engine.files import read_bounded, utf16_as_utf8
from engine.foreign import clean_line

__all__ = ["codec_among", "decode", "read_bytes", "read_text_file"]

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
# Codecs such as rot13 or unicode_escape would make other code of what a reader sees.
_COOKIE_CODECS = re.compile(
    r"utf-8|ascii|iso8859-\d+|cp(125\d|437|85\d|932|949|950|936)|koi8-[ru]|mac-roman"
    r"|gb2312|gbk|gb18030|big5|shift_jis|euc_(jp|kr)"
)
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a ZIP archive (or an office document)"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a Windows program"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"{\\rtf", "an RTF document"),
    (b"SQLite format 3", "a database"),
)
_SAVE_AS = "save it as UTF-8 (in the editor: File, Save as, encoding UTF-8) and hand it in again"


def read_bytes(path: Path, limit: int, error: type[InputError] = SubmissionError) -> bytes:
    """Return the bytes of an ordinary file of at most `limit` bytes.

    Raises
    ------
    InputError
        Of class `error`: missing, a folder, a device or pipe, not readable, empty, too large.
    """
    where = clean_line(str(path))
    try:
        data = read_bounded(path, limit)
    except IsADirectoryError:
        raise error("this is a folder", where=where, expected="a file") from None
    except FileNotFoundError:
        raise error("there is no such file", where=where, next_step="check the path") from None
    except (OSError, ValueError) as fault:
        if isinstance(fault, OSError) and fault.errno == errno.EINVAL:
            raise error("this is no ordinary file", where=where, expected="a file") from fault
        reason = fault.strerror if isinstance(fault, OSError) else str(fault)
        raise error(
            "the file can't be read", where=where, got=reason, next_step="check its rights"
        ) from fault
    if len(data) > limit:
        raise error("the file is too large", where=where, expected=f"at most {limit // 1024} KiB")
    if not data.removeprefix(codecs.BOM_UTF8).strip():
        raise error(
            "the file is empty", where=where, next_step="save the file in the editor, then hand it in again"
        )
    return data


def decode(
    data: bytes, where: str, *, cookie: bool = False, error: type[InputError] = SubmissionError
) -> str:
    r"""Return `data` as text with ``\n`` line ends and no BOM.

    Parameters
    ----------
    data : bytes
    where : str
        For the message; already clean.
    cookie : bool
        Whether a Python coding cookie in the first two lines counts.

    Raises
    ------
    InputError
        Of class `error`: a binary file, UTF-16 or UTF-32, another encoding than UTF-8, NUL characters.
    """
    for magic, name in _MAGIC:
        if data.startswith(magic):
            raise error(f"this is {name}", where=where, expected="a text file")
    # UTF-32's little-endian BOM begins with UTF-16's, so it is looked at first.
    for name, marks in (
        ("UTF-32", (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)),
        ("UTF-16", (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
    ):
        if data.startswith(marks):
            raise error(f"the file is saved as {name}", where=where, expected="UTF-8", next_step=_SAVE_AS)
    body = data.removeprefix(codecs.BOM_UTF8)
    if b"\0" in body:
        even, odd = body[::2].count(0), body[1::2].count(0)
        # Every second byte is zero, and not the others: zeros everywhere are no text.
        if max(even, odd) > len(body) // 4 and min(even, odd) < len(body) // 8:
            raise error("the file is saved as UTF-16", where=where, expected="UTF-8", next_step=_SAVE_AS)
        line = body[: body.index(0)].count(b"\n") + 1
        raise error("the file holds NUL characters", where=f"{where}:{line}", expected="a text file")
    encoding = _cookie(body, where, error) if cookie and body is data else "utf-8"
    try:
        text = body.decode(encoding)
    except (UnicodeDecodeError, LookupError) as fault:
        start = fault.start if isinstance(fault, UnicodeDecodeError) else 0
        line = body[:start].count(b"\n") + 1
        raise error(
            f"the file isn't valid {encoding.upper()}",
            where=f"{where}:{line}",
            got=f"byte 0x{body[start]:02x}; it may be saved as Windows-1252 or Latin-1",
            next_step=_SAVE_AS,
        ) from fault
    return text.replace("\r\n", "\n").replace("\r", "\n")


def codec_among(ordinary: re.Pattern[str], named: str) -> str | None:
    """Return the codec that a file names, None if there is no such codec or it isn't an ordinary one.

    Parameters
    ----------
    ordinary : Pattern
        Matches the names that Python gives to the codecs that are read.
    named : str
        As the file has it.
    """
    try:
        codec = codecs.lookup(named).name
    except LookupError:
        return None
    return codec if ordinary.fullmatch(codec) else None


def _cookie(data: bytes, where: str, error: type[InputError]) -> str:
    lines = data.split(b"\n", 2)[:2]
    for line in lines:
        found = _COOKIE.match(line)
        if found:
            named = found.group(1).decode("ascii", "replace")
            codec = codec_among(_COOKIE_CODECS, named)
            if codec is None:
                raise error(
                    f"the coding cookie names {clean_line(named, 40)!r}, which isn't read here",
                    where=where,
                    expected="UTF-8, or an ordinary text encoding",
                    next_step=_SAVE_AS,
                )
            return codec
        if line.strip() and not line.lstrip().startswith(b"#"):
            break
    return "utf-8"


def read_text_file(path: Path, limit: int = 2**20, error: type[InputError] = SubmissionError) -> str:
    """Return the text of a file such as a filled-in quiz: UTF-8, or UTF-16 as some editors save it.

    Parameters
    ----------
    path : Path
    limit : int
        Most bytes.
    error : type of InputError
        What to raise.
    """
    data = utf16_as_utf8(read_bytes(path, limit, error))
    return decode(data, clean_line(str(path)), error=error)
