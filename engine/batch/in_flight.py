"""Which files were being graded when a grader was killed: one that took it down twice isn't tried again.

The kernel ends a process that fills the memory without giving it a chance to say why. So what is being graded
is noted beforehand, in a small file beside the store; a note without its end is what a killed run leaves.
A file that a killed run had in hand may be innocent, for several are graded at the same time: the next run
grades it last and alone. If that run is killed too, there is no doubt left.

The notes are a help, and never stop a run: where they can't be written (a full or a read-only disk), there
are none, and the store says what is wrong with the disk.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["MOST_LOSSES", "InFlight"]

MOST_LOSSES: Final = 2
_MOST_BYTES = 16 * 2**20

Key = tuple[str, str, str]  # student, item or "", hash of the bytes


class InFlight:
    """The notes of one run.

    Parameters
    ----------
    path : Path or None
        None keeps none. Where another run is at work on the same file, or the file can't be written,
        none are kept either.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lost: Counter[Key] = Counter()
        self._lock = threading.Lock()
        self._fd: int | None = None
        if path is None:
            return
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError:
            return
        if not _locked(self._fd):
            os.close(self._fd)
            self._fd = None
            return
        with contextlib.suppress(OSError):
            self._lost = _losses(os.pread(self._fd, _MOST_BYTES, 0) if hasattr(os, "pread") else b"")
            self._begin_anew()

    def losses(self, key: Key) -> int:
        """Return how many runs were killed while they graded this file."""
        return self._lost[key]

    @contextlib.contextmanager
    def of(self, key: Key) -> Iterator[None]:
        """Note that a file is being graded, and that it isn't any more, however it ended."""
        with self._lock, contextlib.suppress(OSError):
            self._note("begin", key)
        try:
            yield
        finally:
            with self._lock, contextlib.suppress(OSError):
                del self._lost[key]
                self._note("end", key)

    def close(self) -> None:
        """End the notes: a run that stops by itself, or is stopped by hand, took no harm from any file."""
        with self._lock:
            if self._fd is None:
                return
            with contextlib.suppress(OSError):
                self._begin_anew()
            os.close(self._fd)
            self._fd = None
        if not self._lost and self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _begin_anew(self) -> None:
        """Write what is known of killed runs, and nothing else."""
        assert self._fd is not None
        os.ftruncate(self._fd, 0)
        for key, count in self._lost.items():
            self._note("lost", key, count)

    def _note(self, what: str, key: Key, count: int = 1) -> None:
        if self._fd is not None:
            os.write(self._fd, json.dumps([what, *key, count]).encode() + b"\n")


def _losses(notes: bytes) -> Counter[Key]:
    """Return how many runs each file has cost; lines that are cut or damaged are passed over."""
    begun: dict[Key, int] = {}
    lost: Counter[Key] = Counter()
    for line in notes.splitlines():
        try:
            what, student, item, sha256, count = json.loads(line)
            key = (str(student), str(item), str(sha256))
            if what == "lost":
                lost[key] = int(count)
            elif what == "begin":
                begun[key] = 1
            elif what == "end":
                begun.pop(key, None)
                del lost[key]
        except (ValueError, TypeError):
            continue
    lost.update(begun)
    return lost


def _locked(fd: int) -> bool:
    """Take the file for this run, as far as the system has locks; they end with the process."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
