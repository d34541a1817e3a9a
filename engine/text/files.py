"""Where Softmark may write on its own account, and writing a file so that a crash leaves no half of one.

Everything that isn't named by a person or held by a store lies in one cache folder: nothing is left in the
folder in which somebody calls ``grade``.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

from engine.errors import Diagnostic, InputError, SpecError, SubmissionError
from engine.text.escape import clean_line, visible

__all__ = [
    "MAX_BYTES",
    "cache_folder",
    "check_text",
    "codec_among",
    "decode",
    "decode_text",
    "find_control_character",
    "keep_libraries_tidy",
    "one_line",
    "own_folder",
    "read_bounded",
    "read_bytes",
    "read_text",
    "read_text_file",
    "replace_text",
    "replacing",
    "source_line",
    "utf16_as_utf8",
    "work_folder",
]

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_WORK = "softmark-"
_LOCK = ".in-use"
_ABANDONED_S = 24 * 3600.0


def own_folder() -> Path | None:
    """Return this person's own folder: ``SOFTMARK_HOME``, else the usual place of the system.

    None where the system knows no home folder. It isn't made here.
    """
    named = os.environ.get("SOFTMARK_HOME")
    if named:
        return Path(named)
    import click

    folder = Path(click.get_app_dir("softmark"))
    return folder if folder.is_absolute() else None  # a "~" that nobody could resolve


def cache_folder() -> Path:
    """Return the one folder for what can be lost without harm.

    Where there is no home folder it is a place in which nothing can be made, so that libraries do without.
    """
    own = own_folder()
    return Path(os.devnull, "cache") if own is None else own / "cache"


def keep_libraries_tidy() -> None:
    """Have hypothesis and matplotlib keep their caches in ours, in this process and those that it starts.

    By default hypothesis makes a folder ``.hypothesis`` wherever the process stands. It reads this variable
    when it first writes; what a person has set stays.
    """
    folder = cache_folder().absolute()
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(folder / "hypothesis"))
    if own_folder() is not None:  # without a folder matplotlib makes a temporary one, and removes it
        os.environ.setdefault("MPLCONFIGDIR", str(folder / "matplotlib"))


def read_bounded(path: Path, limit: int) -> bytes:
    """Return the bytes of an ordinary file, at most `limit` and one: the one says that there are more.

    For every file that a person names. A pipe or a device is refused and never waited for.

    Raises
    ------
    OSError
        It can't be read, or is no ordinary file; ``strerror`` says why.
    ValueError
        No file can have that name.
    """
    # Without O_NONBLOCK opening a named pipe waits until somebody writes into it.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no ordinary file", str(path))
        return file.read(limit + 1)


def utf16_as_utf8(data: bytes) -> bytes:
    """Return UTF-16, as some editors save text, as UTF-8; anything else as it is.

    It is known by its byte order mark, or by every second byte of its beginning being zero, as in no text of
    another encoding.
    """
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return data
    encoding = None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        head = data[:64]
        for zeros, others, name in (
            (head[1::2], head[::2], "utf-16-le"),
            (head[::2], head[1::2], "utf-16-be"),
        ):
            # Of the other half none is zero: zeros everywhere are no text.
            if len(zeros) > 1 and zeros.count(0) > len(zeros) // 2 and 0 not in others:
                encoding = name
    try:
        return data if encoding is None else data.decode(encoding).encode("utf-8")
    except UnicodeDecodeError:
        return data


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """Give a temporary folder; at its start those are removed whose processes were killed.

    Whoever uses a folder holds the lock of a file in it, which ends with the process, however that ends.
    Where there are no such locks, nothing is removed but the own folder.
    """
    with tempfile.TemporaryDirectory(prefix=_WORK) as name, contextlib.ExitStack() as stack:
        if fcntl is not None:
            # It gets its name once it is locked. Another process that could open it before that might lock it
            # first, take the folder for abandoned and remove it.
            unnamed = Path(name) / f"{_LOCK}.new"
            lock = stack.enter_context(unnamed.open("wb"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            unnamed.rename(Path(name) / _LOCK)
            _remove_abandoned(Path(tempfile.gettempdir()))
        inner = Path(name) / "work"
        inner.mkdir()
        yield inner


def _remove_abandoned(among: Path) -> None:
    """Remove this person's work folders that no process holds; what can't be looked at stays."""
    assert fcntl is not None
    with contextlib.suppress(OSError), os.scandir(among) as listing:
        for entry in listing:
            with contextlib.suppress(OSError):
                if not entry.name.startswith(_WORK) or not entry.is_dir(follow_symlinks=False):
                    continue
                found = entry.stat(follow_symlinks=False)
                if found.st_uid != os.getuid():
                    continue
                try:
                    lock = os.open(Path(entry.path) / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
                except FileNotFoundError:
                    # Just made, and not locked yet; or left by a version that knew no locks.
                    if time.time() - found.st_mtime > _ABANDONED_S:
                        shutil.rmtree(entry.path, ignore_errors=True)
                    continue
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while it is in use
                    shutil.rmtree(entry.path, ignore_errors=True)
                finally:
                    os.close(lock)


def replace_text(path: Path, text: str, *, durable: bool = False, private: bool = False) -> None:
    """Replace a file's text in one step.

    Parameters
    ----------
    path : Path
        Its folder must exist.
    text : str
        Written as UTF-8; what can't be (lone surrogates) becomes ``?``.
    durable : bool
        Wait until the disk has it: for what a person typed and can't be made again.
    private : bool
        Nobody but its owner may read it (mode 0600), at no moment and whatever was there before.

    Raises
    ------
    OSError
        The file is as it was.
    """
    with replacing(path, durable=durable, private=private) as file:
        file.write(text.encode("utf-8", "replace"))


@contextlib.contextmanager
def replacing(path: Path, *, durable: bool = False, private: bool = False) -> Iterator[BinaryIO]:
    """Give a new file to write; at the end of the block it takes the old one's place in one step.

    Parameters are those of :func:`replace_text`. If anything is raised, the file is as it was.
    """
    if path.is_dir():  # what the system says of it differs, and is hard to understand ("busy")
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part, "xb" if private else "wb", opener=_private if private else None) as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            part.unlink()
        if isinstance(error, OSError) and error.filename == str(part):
            error.filename, error.filename2 = str(path), None  # nobody knows the other name
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


# ----------------------------------------------------------------------------------------------------
# Reads a text file that a person wrote: bounded, UTF-8, and one clear sentence when it isn't.

MAX_BYTES = 2**20
"""The largest file that is read: 1 MiB."""

# What YAML can't hold, and line ends that editors don't show as such.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_LINE_END = re.compile(r"\r\n|\r|\n")


def one_line(text: str, limit: int = 60) -> str:
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
    name = one_line(str(path), 300) if filename is None else filename
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


# ----------------------------------------------------------------------------------------------------
# Bytes that a person handed in → text, or one clear message.
#
# UTF-8 (with or without BOM) is read. A Python coding cookie is honoured for ordinary text
# encodings. Everything else is refused rather than guessed: a guess would change what was handed in.

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
