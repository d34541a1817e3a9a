"""Where Softmark may write on its own account, and writing a file so that a crash leaves no half of one.

Everything that isn't named by a person or held by a store lies in one cache folder: nothing is left in the
folder in which somebody calls ``grade``.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_WORK = "softmark-"
_LOCK = ".in-use"
_ABANDONED_S = 24 * 3600.0

__all__ = [
    "cache_folder",
    "keep_libraries_tidy",
    "own_folder",
    "read_bounded",
    "replace_text",
    "replacing",
    "utf16_as_utf8",
    "work_folder",
]


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
