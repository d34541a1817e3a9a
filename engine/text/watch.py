"""Notice that a file was saved, and read it once the editor has finished saving.

Editors save in many ways: they write in place, empty the file first, or write another file and rename it.
So folders are watched, not files, and a file that is missing or empty for a moment is waited for
(:func:`read_settled`). Twice a second callers are told to look even without an event, because network
folders send none.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TypeVar

FileStamp = tuple[int, int, int] | None
"""Modification time in ns, size, inode: saving by renaming is sure to change only the inode."""
Result = TypeVar("Result")

LOOK_EVERY_MS = 500
"""How often files are looked at without any event."""
# Events closer together than this are one save; one or two of it are added to every answer.
_STEP_MS = 4
_PAUSE_S = 0.1
# Emptying and rewriting takes an editor milliseconds; a file that stays empty longer was saved empty.
_SETTLE_S = 0.3
_SETTLE_PAUSE_S = 0.01


def folders_of(path: Path) -> set[Path]:
    """Return the folders to watch for a file: that of the link and that of what it leads to."""
    return {path.absolute().parent, path.resolve().parent}


def file_changes(
    folders: Collection[Path], endings: tuple[str, ...], stop: threading.Event | None = None
) -> Iterator[bool]:
    """Yield True when a file was saved, False when it is time for a look anyway.

    Parameters
    ----------
    folders : collection of Path
        Watched without the folders in them.
    endings : tuple of str
        What the names of the files end in.
    stop : threading.Event, optional
        Ends the iteration; without it there is no end.
    """
    from watchfiles import watch  # imported here: a compiled library that only this needs

    logging.getLogger("watchfiles").setLevel(logging.ERROR)
    try:
        for changes in watch(
            *folders,
            watch_filter=lambda _, name: name.endswith(endings),
            step=_STEP_MS,
            debounce=4 * _STEP_MS,
            rust_timeout=LOOK_EVERY_MS,
            yield_on_timeout=True,
            recursive=False,
            stop_event=stop,
        ):
            yield bool(changes)
    except (OSError, RuntimeError):
        # no events here (too many watches, a folder that may not be listed): look often instead
        while stop is None or not stop.is_set():
            time.sleep(_PAUSE_S)
            yield False


def file_stamp(path: Path) -> FileStamp:
    """Return what changes when a file is saved; None for a file that isn't there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def read_settled(
    path: Path, read: Callable[[], Result], stop: threading.Event | None = None
) -> tuple[Result, FileStamp]:
    """Call `read` until the file holds something and didn't change meanwhile, but for 0.3 s at most.

    Parameters
    ----------
    path : Path
    read : callable
        Reads the file, or whatever is wanted of its saved state.
    stop : threading.Event, optional
        Ends the waiting early.

    Returns
    -------
    tuple
        The result of the last call, and the file's stamp just before it.
    """
    end = time.monotonic() + _SETTLE_S
    while True:
        stamp = file_stamp(path)
        result = read()
        is_settled = stamp is not None and stamp[1] > 0 and stamp == file_stamp(path)
        if is_settled or time.monotonic() > end or (stop is not None and stop.is_set()):
            return result, stamp
        time.sleep(_SETTLE_PAUSE_S)
