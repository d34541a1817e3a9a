"""Follow the saves of one file, for ``grade watch``.

Editors save in several steps: they empty a file, or move it away and write a new one. Several events within
a few milliseconds are therefore one save, and a file that is gone or empty for a moment is waited for.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.errors import SubmissionError
from engine.intake import read_code_file
from engine.model import CodeSubmission
from engine.text.escape import clean_line
from engine.text.watch import FileStamp, file_changes, file_stamp, folders_of, read_settled

__all__ = ["SavedFile", "readings"]


@dataclass(frozen=True, slots=True)
class SavedFile:
    """The file as a save left it.

    Parameters
    ----------
    submission : CodeSubmission or None
        None if it can't be read.
    fault : SubmissionError or None
        Why it can't be read.
    is_repeat : bool
        It was saved without a change.
    noticed_s : float
        When the save was noticed, on the clock of :func:`time.monotonic`.
    """

    submission: CodeSubmission | None
    fault: SubmissionError | None
    is_repeat: bool
    noticed_s: float


def readings(path: Path) -> Iterator[SavedFile]:
    """Yield the file as it is now, and again after every save; it never ends by itself.

    A file that can't be read (empty, no text, too large, gone) is yielded too: the next save may correct it.
    Saves of Python files beside it count where the submission imports them.

    Parameters
    ----------
    path : Path

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C, while waiting.
    """
    last, stamp = _read_settled(path, time.monotonic())
    beside = _stamps_beside(path, last)
    yield last
    # Looked at once more before waiting: it may have been saved while the first reading was graded.
    for event in itertools.chain([True], file_changes(folders_of(path), (".py", ".ipynb"))):
        noticed_s = time.monotonic()
        if not event and (file_stamp(path), _stamps_beside(path, last)) == (stamp, beside):
            continue
        before = stamp
        reading, stamp = _read_settled(path, noticed_s)
        beside = _stamps_beside(path, reading)
        if not _same(reading, last):
            last = reading
            yield reading
        # A save without a change is reported too: silence would look like a program that hangs.
        elif stamp != before and stamp is not None:
            yield SavedFile(reading.submission, reading.fault, True, noticed_s)


def _same(first: SavedFile, second: SavedFile) -> bool:
    return first.submission == second.submission and str(first.fault) == str(second.fault)


def _stamps_beside(path: Path, reading: SavedFile) -> tuple[FileStamp, ...]:
    names = () if reading.submission is None else reading.submission.modules
    return tuple(file_stamp(path.with_name(f"{name}.py")) for name in names)


def _read_settled(path: Path, noticed_s: float) -> tuple[SavedFile, FileStamp]:
    return read_settled(path, lambda: _read(path, noticed_s))


def _read(path: Path, noticed_s: float) -> SavedFile:
    try:
        return SavedFile(read_code_file(path), None, False, noticed_s)
    except SubmissionError as error:
        fault = error
        if file_stamp(path) is None:
            step = "save it again: it is graded as soon as it is back"
            fault = SubmissionError("the file is gone", where=clean_line(str(path)), next_step=step)
        return SavedFile(None, fault, False, noticed_s)
