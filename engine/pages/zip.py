"""Under which name a student's page goes into an archive that a learning system takes back.

Moodle and Canvas find the student by the numbers that they put into the names of the download. So these
names are taken from what was handed in, as it was called then, and never guessed: a wrong number would
show one student's feedback to another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from engine.course import StudentResults
from engine.report.student_pages import page_name

__all__ = ["LAYOUTS", "Layout", "archive_name"]

# Moodle takes the second piece between underscores for the participant, the next two for the plugin.
_MOODLE_FOLDER = re.compile(r"([^_]*)_(\d+)_assignsubmission_(file|onlinetext)(_.*)?", re.DOTALL)
# Canvas takes the first two pieces that are numbers for the student and the file handed in.
_CANVAS_FILE = re.compile(r"((?:anon_[0-9A-Za-z]+|(?:[^_]+_)+?\d+)_\d+)_(.+)", re.DOTALL)
_UNSAFE = re.compile(r"[^\w .,'()+-]+")

Layout = Callable[[StudentResults, str | None], str | None]


def archive_name(layout: str, results: StudentResults, assignment: str | None = None) -> str | None:
    """Return the name of a student's page in an archive.

    Parameters
    ----------
    layout : str
        One of :data:`LAYOUTS`.
    results : StudentResults
    assignment : str, optional
        Only hand-ins of this quiz or code item are looked at; the newest that has such a name counts.

    Returns
    -------
    str or None
        With ``/`` between folders; None where no hand-in has a name that the learning system gave.
    """
    return LAYOUTS[layout](results, assignment)


def _plain(results: StudentResults, _assignment: str | None) -> str:
    return f"{PurePosixPath(page_name(results.student)).stem}/feedback.html"


def _moodle(results: StudentResults, assignment: str | None) -> str | None:
    for piece in _pieces(results, assignment):
        if found := _MOODLE_FOLDER.fullmatch(piece):
            name, number, plugin = found[1], found[2], found[3]
            return f"{_safe(name) or 'student'}_{number}_assignsubmission_{plugin}_/feedback.html"
    return None


def _canvas(results: StudentResults, assignment: str | None) -> str | None:
    for piece in _pieces(results, assignment):
        if found := _CANVAS_FILE.fullmatch(piece):
            rest = _safe(PurePosixPath(found[2]).stem)
            # A last piece that begins with "link" says that there was no file.
            told = "feedback" if not rest or rest.split("_")[-1].startswith("link") else rest
            return f"{_safe(found[1])}_{told}.html"
    return None


LAYOUTS: Mapping[str, Layout] = {"canvas": _canvas, "moodle": _moodle, "plain": _plain}


def _pieces(results: StudentResults, assignment: str | None) -> Iterator[str]:
    """Yield the names of folders and files that a learning system can have given, newest hand-in first.

    They stand at the top of the download, maybe in a folder around all of it; what lies deeper is named
    by students.
    """
    items = [i for i in results.items if assignment in (None, i.column.assignment)]
    for item in sorted(items, key=lambda i: i.handed or i.graded, reverse=True):
        yield from item.filename.split("/")[:2]


def _safe(name: str) -> str:
    """Return a piece of a name that every system can have as a file's; its numbers stay as they are."""
    return _UNSAFE.sub("-", name).strip(" .")[:120]
