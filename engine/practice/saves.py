"""Follows the saves of one file.

Several events within a few milliseconds are one save, and a file that is gone or empty for a moment, because
an editor empties or moves it while it saves, is waited for.
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
    """What a save left in the file.

    Parameters
    ----------
    submission : CodeSubmission or None
        None if it can't be read.
    fault : SubmissionError or None
        Why it can't be read.
    is_repeat : bool
        It was saved, and holds what it held before.
    noticed_s : float
        When the save was noticed, on the clock of :func:`time.monotonic`.
    """

    submission: CodeSubmission | None
    fault: SubmissionError | None
    is_repeat: bool
    noticed_s: float


def readings(path: Path) -> Iterator[SavedFile]:
    """Yield what the file holds now, and again after every save; it never ends by itself.

    What can't be read (empty, no text, too large, gone) is a reading too: the next save may mend it.
    Python files beside it count as saves of it where the submission takes them in.

    Parameters
    ----------
    path : Path

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C, while waiting.
    """
    last, stamp = _settled(path, time.monotonic())
    beside = _stamps_beside(path, last)
    yield last
    # the first look is at once: it may have been saved while the first reading was graded
    for event in itertools.chain([True], file_changes(folders_of(path), (".py", ".ipynb"))):
        noticed_s = time.monotonic()
        if not event and (file_stamp(path), _stamps_beside(path, last)) == (stamp, beside):
            continue
        before = stamp
        reading, stamp = _settled(path, noticed_s)
        beside = _stamps_beside(path, reading)
        if not _same(reading, last):
            last = reading
            yield reading
        elif stamp != before and stamp is not None:
            yield SavedFile(reading.submission, reading.fault, True, noticed_s)


def _same(one: SavedFile, other: SavedFile) -> bool:
    return one.submission == other.submission and str(one.fault) == str(other.fault)


def _stamps_beside(path: Path, reading: SavedFile) -> tuple[FileStamp, ...]:
    """Return the stamps of the files that the submission took in from the same folder."""
    names = () if reading.submission is None else reading.submission.modules
    return tuple(file_stamp(path.with_name(f"{name}.py")) for name in names)


def _settled(path: Path, noticed_s: float) -> tuple[SavedFile, FileStamp]:
    return read_settled(path, lambda: _read(path, noticed_s))


def _read(path: Path, noticed_s: float) -> SavedFile:
    try:
        return SavedFile(read_code_file(path), None, False, noticed_s)
    except SubmissionError as error:
        return SavedFile(None, error if file_stamp(path) else _gone(path), False, noticed_s)


def _gone(path: Path) -> SubmissionError:
    return SubmissionError(
        "the file is gone",
        where=clean_line(str(path)),
        next_step="save it again: it is graded as soon as it is back",
    )
