"""Read files that people name, and write files so that a crash leaves no half of one.

Every foreign file is read by :func:`read_bytes` or :func:`read_text`: bounded, never waiting for a pipe, and
refused with a sentence that says what is wrong and what to do. What Softmark writes on its own account lies
in one cache folder: nothing is left in the folder in which somebody calls ``grade``.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, TypeVar

from engine.errors import Diagnostic, InputError, SoftmarkError, SpecError, SubmissionError, UsageError
from engine.text.words import clean_line, one_line, visible

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

E = TypeVar("E", bound=InputError)

# Work folders are found again by this name, should their process be killed.
_WORK = "softmark-"
_LOCK = ".in-use"
# Of a name of 255 bytes, the most that a system takes, the rest is for the writer's own ending.
_LONGEST_BEGINNING = 180
# The first moment that a ZIP archive can state, and the system whose permissions it knows.
_EARLIEST, _UNIX = (1980, 1, 1, 0, 0, 0), 3
# No grading of a class takes a day.
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

    It lies in ``SOFTMARK_HOME``, else where the system keeps such things: ``$XDG_CACHE_HOME``, ``~/.cache``.
    Where there is no home folder it is a place in which nothing can be made, so that libraries do without.
    """
    folder, named = own_folder(), Path(os.environ.get("XDG_CACHE_HOME", ""))
    if folder is not None and (os.environ.get("SOFTMARK_HOME") or os.name == "nt"):
        return folder / "cache"
    if named.is_absolute():  # the specification has a relative path ignored
        return named / "softmark"
    try:
        return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "softmark"
    except RuntimeError:
        return Path(os.devnull, "cache")


def keep_libraries_tidy() -> None:
    """Have hypothesis and matplotlib keep their caches in ours, in this process and those that it starts.

    By default hypothesis makes a folder ``.hypothesis`` wherever the process stands. It reads this variable
    when it first writes; what a person has set stays.
    """
    folder = cache_folder().absolute()
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(folder / "hypothesis"))
    if folder != Path(
        os.devnull, "cache"
    ):  # without a folder matplotlib makes a temporary one, and removes it
        os.environ.setdefault("MPLCONFIGDIR", str(folder / "matplotlib"))


def read_bounded(path: Path, limit: int) -> bytes:
    """Return the bytes of an ordinary file, at most `limit` and one: the one says that there are more.

    For every file that a person names. A pipe or a device is refused and never waited for.

    Raises
    ------
    OSError
        It can't be read, or isn't a regular file; ``strerror`` says why.
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
            raise OSError(errno.EINVAL, "it isn't a regular file", str(path))
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
    # What can't be looked at stays: it may be another person's.
    assert fcntl is not None
    with contextlib.suppress(OSError), os.scandir(among) as listing:
        for entry in listing:
            with contextlib.suppress(OSError):
                if not entry.name.startswith(_WORK) or not entry.is_dir(follow_symlinks=False):
                    continue
                status = entry.stat(follow_symlinks=False)
                if status.st_uid != os.getuid():
                    continue
                try:
                    lock = os.open(Path(entry.path) / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
                except FileNotFoundError:
                    # Just made, and not locked yet; or left by a version that knew no locks.
                    if time.time() - status.st_mtime > _ABANDONED_S:
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

    Parameters are those of :func:`replace_text`. If anything is raised, the file is as it was. A link stays a
    link, and what it leads to is replaced. What isn't a file, such as ``/dev/null`` or a pipe, is left alone.
    """
    _refuse_other_kinds(path)
    target = path if private else _behind_link(path)
    # Named for the thread, too: two that write one file must not write into one another's.
    beginning = os.fsdecode(os.fsencode(target.name)[:_LONGEST_BEGINNING])
    part = target.with_name(f".{beginning}.{os.getpid()}-{threading.get_ident():x}.part")
    try:
        with open(part, "xb" if private else "wb", opener=_private if private else None) as file:
            if not private:
                _keep_mode(target, file.fileno())
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        part.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            part.unlink()
        if isinstance(error, OSError) and error.filename == str(part):
            error.filename, error.filename2 = str(path), None  # nobody knows the other name
        raise


def _refuse_other_kinds(path: Path) -> None:
    """Raise OSError for what is there and isn't a file: to replace a device would take it from everybody."""
    if path.is_dir():  # what the system says of it differs, and is hard to understand ("busy")
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "it isn't a regular file", str(path))


def _behind_link(path: Path) -> Path:
    """Return what a person's own link leads to; another's, say in /tmp, could lead anywhere."""
    try:
        is_own = path.is_symlink() and path.lstat().st_uid == os.getuid()
    except (OSError, AttributeError):  # Windows has no user ids
        return path
    return path.resolve() if is_own else path


def check_target(path: Path) -> None:
    """Raise what :func:`replacing` would, before a person waits for what can't be written afterwards.

    Raises
    ------
    OSError
        There is no such folder, it can't be written to, or what is there isn't a file.
    """
    if path.name == "-":
        raise OSError(errno.EINVAL, "it stands for standard output, and a file is written", str(path))
    _refuse_other_kinds(path)
    folder = _behind_link(path).absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path))
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "its folder can't be written to", str(path))


def keep_work(path: Path, text: str, *, next_step: str) -> None:
    """Refuse to replace a file in which people work, such as a notebook; the same text again harms nobody.

    Parameters
    ----------
    path : Path
    text : str
        What would be written.
    next_step : str

    Raises
    ------
    UsageError
        There is something else of this name.
    """
    if not os.path.lexists(path):
        return
    data = text.encode("utf-8", "replace")
    try:
        is_same = read_bounded(path, len(data)) == data
    except OSError:  # a folder, a link that leads nowhere, or a file that isn't ours to read
        is_same = False
    if not is_same:
        raise UsageError(
            "a file of this name exists, and nothing is overwritten", where=str(path), next_step=next_step
        )


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _keep_mode(path: Path, descriptor: int) -> None:
    """Let a new file be read by those who could read the old one, and by nobody else."""
    # Without an old file, or on a system that has no such rights, it is as new files are there.
    with contextlib.suppress(OSError, AttributeError):
        os.fchmod(descriptor, stat.S_IMODE(path.stat().st_mode))


def zip_bytes(files: Mapping[str, str | bytes], modes: Mapping[str, int] | None = None) -> bytes:
    """Return a ZIP archive whose bytes depend on nothing but the files, in the order given.

    Parameters
    ----------
    files : mapping of str to str or bytes
        Content by path; text becomes UTF-8.
    modes : mapping of str to int, optional
        Permissions by path where they aren't those of an ordinary file (0644).
    """
    import zipfile  # only who packs something waits for it

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, _EARLIEST)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, _UNIX
            entry.external_attr = (stat.S_IFREG | (modes or {}).get(path, 0o644)) << 16
            data = content.encode("utf-8", "replace") if isinstance(content, str) else content
            archive.writestr(entry, data)
    return out.getvalue()


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Let nobody else change the files of a folder meanwhile, as far as the system has locks on folders."""
    try:
        # The folder, not a file: files are replaced, and a lock on the old one would hold nobody off.
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        yield
        return
    try:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # some network folders have no locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def write_errors(
    message: str, path: Path, *, next_step: str, kind: type[SoftmarkError] = UsageError
) -> Iterator[None]:
    """Turn what the system says of a file that can't be written into an error that says what to do.

    Parameters
    ----------
    message : str
        One sentence: ``"the gradebook can't be written"``.
    path : Path
        Named where the system names no file itself.
    next_step : str
    kind : type of SoftmarkError
        Which error is raised.
    """
    try:
        yield
    except OSError as error:
        # "File exists" where a folder is to be made: a person wants to know what is there.
        exists = "a file of this name" if isinstance(error, FileExistsError) else None
        got = exists or error.strerror or str(error)
        raise kind(message, where=str(error.filename or path), got=got, next_step=next_step) from error


MAX_BYTES = 2**20
"""The largest text file that is read by default: hand-written files are a hundred times smaller."""

# What YAML can't hold, and line ends that editors don't show as such.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_LINE_END = re.compile(r"\r\n|\r|\n")

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
# Codecs such as rot13 or unicode_escape would make other code of what a reader sees.
_COOKIE_CODECS = re.compile(
    r"utf-8|ascii|iso8859-\d+|cp(125\d|437|85\d|932|949|950|936)|koi8-[ru]|mac-roman"
    r"|gb2312|gbk|gb18030|big5|shift_jis|euc_(jp|kr)"
)
ARCHIVE_STARTS = {
    b"PK\x03\x04": "a ZIP archive (or an office document)",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
}
"""The first bytes of archives, and what to call such a file."""
# What people hand in by mistake, by its first bytes.
_MAGIC: tuple[tuple[bytes, str], ...] = (
    *ARCHIVE_STARTS.items(),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a Windows program"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"{\\rtf", "an RTF document"),
    (b"SQLite format 3", "a database"),
)
_SAVE_AS = "save it as UTF-8 (in the editor: File, Save as, encoding UTF-8)"


@lru_cache(maxsize=8)  # one line may have many faults, and be as long as the file
def source_line(text: str, line: int) -> str:
    """Return line ``line`` (from 1) of a text as it may be printed; empty beyond the end."""
    lines = _lines(text)
    return visible(lines[line - 1]) if 0 < line <= len(lines) else ""


@lru_cache(maxsize=2)  # a file with many faults is split once
def _lines(text: str) -> tuple[str, ...]:
    return tuple(_LINE_END.split(text))


def read_bytes(
    path: Path,
    limit: int = MAX_BYTES,
    error: type[InputError] = SubmissionError,
    *,
    name: str | None = None,
    noun: str = "the file",
    may_be_empty: bool = False,
) -> bytes:
    """Return the bytes of an ordinary file.

    Parameters
    ----------
    path : Path
    limit : int
        Most bytes.
    error : type of InputError
        What is raised.
    name : str, optional
        The file's name in messages; the path if left out.
    noun : str
        What the file is called in messages: ``"the roster"``.
    may_be_empty : bool
        Whether a file without anything but blanks is read.

    Raises
    ------
    InputError
        Of class `error`: missing, a folder, a device or pipe, not readable, too large, or empty.
    """
    where = one_line(str(path), 300) if name is None else name
    try:
        data = read_bounded(path, limit)
    except IsADirectoryError:
        raise error("this is a folder", where=where, expected="a file") from None
    except (FileNotFoundError, NotADirectoryError):
        raise error("there is no such file", where=where, next_step="check the path") from None
    except (OSError, ValueError) as fault:
        if isinstance(fault, OSError) and fault.errno == errno.EINVAL:
            raise error("this isn't a regular file", where=where, expected="a file") from fault
        reason = fault.strerror if isinstance(fault, OSError) else str(fault)
        step = "check its permissions"
        raise error(f"{noun} can't be read", where=where, got=reason, next_step=step) from fault
    if len(data) > limit:
        most = f"{limit // 2**20} MiB" if limit >= 2**20 else f"{limit // 2**10} KiB"
        raise error(f"{noun} is too large", where=where, expected=f"at most {most}")
    if not may_be_empty and not data.removeprefix(codecs.BOM_UTF8).strip():
        raise error(f"{noun} is empty", where=where, next_step="save the file in the editor, then try again")
    return data


def read_text(
    path: Path,
    error: type[InputError] = SpecError,
    name: str | None = None,
    *,
    limit: int = MAX_BYTES,
    may_be_empty: bool = True,
) -> str:
    """Return the text of a file that a person wrote: UTF-8, or UTF-16 as some editors save it.

    Parameters and errors are those of :func:`read_bytes` and :func:`decode`.
    """
    name = one_line(str(path), 300) if name is None else name
    data = read_bytes(path, limit, error, name=name, may_be_empty=may_be_empty)
    return decode(utf16_as_utf8(data), name, error=error)


def read_hand_in(path: Path) -> str:
    """Return the text of a student's file, such as a filled-in quiz; raises :class:`SubmissionError`."""
    return read_text(path, SubmissionError, may_be_empty=False)


def decode(data: bytes, name: str, *, cookie: bool = False, error: type[InputError] = SubmissionError) -> str:
    r"""Return UTF-8 bytes as text with ``\n`` line ends and no byte order mark.

    Every other encoding is refused rather than guessed: a guess would change what somebody wrote.

    Parameters
    ----------
    data : bytes
    name : str
        The file's name in messages; already clean.
    cookie : bool
        Whether a Python coding cookie in the first two lines counts, if it names an ordinary encoding.
    error : type of InputError
        What is raised.

    Raises
    ------
    InputError
        Of class `error`: a binary file, UTF-16 or UTF-32, another encoding than UTF-8, NUL characters.
    """
    expected = "a text file"
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            raise fault_after("", f"this is {kind}", name, error, expected=expected)
    # UTF-32's little-endian BOM begins with UTF-16's, so it is looked at first.
    for encoding, marks in (
        ("UTF-32", (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)),
        ("UTF-16", (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
    ):
        if data.startswith(marks):
            raise fault_after(
                "", f"the file is saved as {encoding}", name, error, expected="UTF-8", next_step=_SAVE_AS
            )
    body = data.removeprefix(codecs.BOM_UTF8)
    if b"\0" in body:
        even, odd = body[::2].count(0), body[1::2].count(0)
        # Every second byte is zero, and not the others: zeros everywhere are no text.
        if max(even, odd) > len(body) // 4 and min(even, odd) < len(body) // 8:
            raise fault_after(
                "", "the file is saved as UTF-16", name, error, expected="UTF-8", next_step=_SAVE_AS
            )
        before = body[: body.index(0)].decode("utf-8", "replace")
        raise fault_after(before, "the file holds NUL characters", name, error, expected=expected)
    encoding = _cookie(body, name, error) if cookie and body is data else "utf-8"
    try:
        text = body.decode(encoding)
    except (UnicodeDecodeError, LookupError) as fault:
        start = fault.start if isinstance(fault, UnicodeDecodeError) else 0
        got = f"byte 0x{body[start]:02x}; it may be saved as Windows-1252 or Latin-1"
        before = body[:start].decode(encoding, "replace")
        raise fault_after(
            before, f"the file isn't valid {encoding.upper()}", name, error, got=got, next_step=_SAVE_AS
        ) from fault
    return text.replace("\r\n", "\n").replace("\r", "\n")


def fault_after(
    before: str,
    message: str,
    name: str,
    kind: type[E],
    *,
    expected: str | None = None,
    got: str | None = None,
    next_step: str | None = None,
) -> E:
    """Return the error about what comes right after the text `before` of a file, which is called `name`."""
    lines = _LINE_END.split(before)
    fault = Diagnostic(name, len(lines), len(lines[-1]) + 1, message, visible(lines[-1]))
    error = kind.of_file([fault])
    error.expected, error.got, error.next_step = expected, got, next_step
    return error


def codec_among(ordinary: re.Pattern[str], label: str) -> str | None:
    """Return the codec that a file names, None if there is no such codec or it isn't an ordinary one.

    Parameters
    ----------
    ordinary : Pattern
        Matches the names that Python gives to the codecs that are read.
    label : str
        As the file has it.
    """
    try:
        codec = codecs.lookup(label).name
    except LookupError:
        return None
    return codec if ordinary.fullmatch(codec) else None


def _cookie(data: bytes, name: str, error: type[InputError]) -> str:
    for number, line in enumerate(data.split(b"\n", 2)[:2], start=1):
        if match := _COOKIE.match(line):
            label = match.group(1).decode("ascii", "replace")
            codec = codec_among(_COOKIE_CODECS, label)
            if codec is None:
                raise fault_after(
                    "\n" * (number - 1),
                    f"the coding cookie names {clean_line(label, 40)!r}, which isn't read here",
                    name,
                    error,
                    expected="UTF-8, or an ordinary text encoding",
                    next_step=_SAVE_AS,
                )
            return codec
        if line.strip() and not line.lstrip().startswith(b"#"):
            break  # Python looks for a cookie in comments only
    return "utf-8"


def find_control_character(text: str) -> int | None:
    """Return the position of the first character that no YAML file may hold, None if there is none."""
    bad = _FORBIDDEN.search(text)
    return bad.start() if bad else None


def check_text(text: str, name: str, error: type[InputError] = SpecError) -> str:
    """Return the text if a YAML file may hold every character.

    Raises
    ------
    InputError
        Of class ``error``, at the first control character or invisible line end.
    """
    index = find_control_character(text)
    if index is None:
        return text
    message = f"the invisible character U+{ord(text[index]):04X} isn't allowed in this file; delete it"
    line, column = _place(text, index)
    raise error.of_file([Diagnostic(name, line, column, message, source_line(text, line))])


def _place(text: str, index: int) -> tuple[int, int]:
    lines = _LINE_END.split(text[:index])
    return len(lines), len(lines[-1]) + 1
