"""What was computed from files, kept for the next command: JSON in this person's cache folder.

A value is kept under all that it was computed from: the contents of the files, and the state of our own code.
So nothing kept can be out of date; what nobody asks for any more is removed with time. Nothing here matters
to a result: a value that is missing, damaged or another person's is computed again, and where nothing can be
written nothing is kept.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import click

import engine
from engine.text.files import cache_folder, read_bounded, replacing

T = TypeVar("T")

# A bank of 1,000 items makes a listing of 1 MB.
_MOST_BYTES = 8 * 2**20
# A variant has 10 KB. Beyond the limit the oldest third goes, so that few writes have to look.
_MOST_FILES = 600
_DIGEST = 32  # hexadecimal digits of a file's name: 128 bits, no two keys ever share a file
# Of file systems the coarsest (FAT) counts in steps of two seconds.
_COARSEST_NS = 2 * 10**9


class JsonCache:
    """A folder of JSON values, which only its owner may read.

    Parameters
    ----------
    folder : Path
        Made when something is first written.

    Notes
    -----
    Two processes may write at once: a file takes its place in one step, and what either writes is right.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def of_person(cls) -> JsonCache:
        """Return the cache of the person who calls the command."""
        return cls(cache_folder() / "bank")

    def get(self, name: str, key: Iterable[str]) -> Any:
        """Return the value kept under a name and a key; None if there is none that can be trusted."""
        try:
            if not self._is_private():
                return None
            data = read_bounded(self._path(name, key), _MOST_BYTES)
            digest, _, body = data.partition(b"\n")
            return json.loads(body) if digest == _digest(body) else None
        except (OSError, ValueError, RecursionError):
            return None

    def put(self, name: str, key: Iterable[str], value: Any) -> None:
        """Keep a JSON value; where that can't be done, nothing happens."""
        body = json.dumps(value, separators=(",", ":")).encode()
        if len(body) >= _MOST_BYTES:
            return
        with contextlib.suppress(OSError):
            self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if self._is_private():
                with replacing(self._path(name, key), private=True) as file:
                    file.write(_digest(body) + b"\n" + body)
                self._remove_oldest()

    def derived(
        self,
        name: str,
        files: Iterable[Path],
        facts: Sequence[str],
        make: Callable[[], T],
        may_keep: Callable[[T], bool] = lambda made: True,
    ) -> T:
        """Return what follows from files and some facts: the JSON value that is kept, or what `make` returns.

        Parameters
        ----------
        name : str
        files : iterable of Path
            Files, and folders with all that is in them.
        facts : sequence of str
            What else it depends on.
        make : callable
            Makes the value; its errors are passed on.
        may_keep : callable
            Whether it depends on nothing else, after all.
        """
        contents = contents_digest(files)
        value = self.get(name, [contents, *facts]) if contents else None
        if value is not None:
            return value  # type: ignore[no-any-return]
        made = make()
        # Not where somebody has written one of the files meanwhile, of which only a part was seen.
        if contents and contents == contents_digest(files) and may_keep(made):
            self.put(name, [contents, *facts], made)
        return made

    def _path(self, name: str, key: Iterable[str]) -> Path:
        text = json.dumps([_code_state(), *key])
        return self._folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]}.json"

    def _is_private(self) -> bool:
        # What others could have written would be marked by, and shown as, what the bank says.
        status = os.lstat(self._folder)
        if os.name != "posix":  # there the folder's own rights protect it
            return stat.S_ISDIR(status.st_mode)
        return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077

    def _remove_oldest(self) -> None:
        with os.scandir(self._folder) as listing:
            files = [(entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in listing]
        if len(files) > _MOST_FILES:
            for _, path in sorted(files)[: len(files) // 3]:
                with contextlib.suppress(FileNotFoundError):  # another process removes them, too
                    Path(path).unlink()


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


@lru_cache(maxsize=1)
def _code_state() -> str:
    """Return what tells this state of our code, of Python and of the libraries from every other."""
    root = Path(engine.__file__).resolve().parent.parent
    # Installing, removing or replacing any library changes the folder that holds them.
    libraries = Path(click.__file__).parent.parent
    state = [file_state([root / "engine", root / "reference"])[0], str(libraries), sys.version]
    return json.dumps([*state, libraries.stat().st_mtime_ns])


def file_state(folders: Iterable[Path]) -> tuple[str, bool]:
    """Return a digest of the names, sizes and times of all files below folders.

    Returns
    -------
    str
        It stays the same only while no file is added, removed, replaced or written.
    bool
        Whether that can be relied on: not while a file is so young that it could be written again within
        the same tick of its file system's clock.
    """
    digest, newest = hashlib.sha256(), 0
    for folder in folders:
        for entry in _files_below(str(folder)):
            try:
                status = entry.stat()
            except FileNotFoundError:  # a link to nothing
                status = entry.stat(follow_symlinks=False)
            times = (status.st_mtime_ns, status.st_ctime_ns)
            newest = max(newest, *times)
            digest.update(os.fsencode(entry.path) + f"\0{status.st_size} {status.st_ino} {times}\0".encode())
    return digest.hexdigest(), newest + _COARSEST_NS < time.time_ns()


def _files_below(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        # Compiled files follow from the others; hidden ones are editors'.
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _files_below(entry.path)
        else:
            yield entry


def contents_digest(paths: Iterable[Path]) -> str:
    """Return a digest of the names and contents of files and of all files below folders.

    It is "" where one of them can't be read: whoever needs the file says what is wrong with it.
    """
    digest = hashlib.sha256()
    try:
        for path in paths:
            files = [entry.path for entry in _files_below(str(path))] if path.is_dir() else [str(path)]
            for file in files:
                data = read_bounded(Path(file), _MOST_BYTES)
                if len(data) > _MOST_BYTES:
                    return ""
                digest.update(os.fsencode(file) + f"\0{len(data)}\0".encode() + data)
    except OSError:
        return ""
    return digest.hexdigest()


def as_plain(value: Any) -> Any:
    """Return a frozen value of :mod:`engine.model` as JSON values; its mappings hold JSON values already."""
    if dataclasses.is_dataclass(value):
        return {field.name: as_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: as_plain(entry) for key, entry in value.items()}
    return [as_plain(entry) for entry in value] if isinstance(value, tuple | list) else value


def of_plain(kind: type[T], value: Any) -> T:
    """Return the value of which :func:`as_plain` made these JSON values.

    Raises
    ------
    TypeError, ValueError, KeyError, AttributeError
        It was another.
    """
    return _typed(kind, value)  # type: ignore[no-any-return]


def _typed(kind: Any, value: Any) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):  # X | None
        return None if value is None else _typed(arguments[0], value)
    if origin is tuple:
        return tuple(_typed(arguments[0], entry) for entry in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: _typed(arguments[1], entry) for key, entry in value.items()}
    if not dataclasses.is_dataclass(kind):
        return value
    return kind(**{name: _typed(_hints(kind)[name], entry) for name, entry in value.items()})  # type: ignore


@lru_cache(maxsize=64)
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)
