"""Feedback pages in one archive, as a learning system takes them back; the same pages give the same bytes.

Moodle and Canvas find the student by the numbers that they put into the names of the download. So these
names are taken from what was handed in, as it was called then, and never guessed: a wrong number would
show one student's feedback to another.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from engine.marks.class_table import StudentResults
from engine.pages.feedback import page_name
from engine.text.files import replacing

# Moodle takes the second piece between underscores for the participant, the next two for the plugin.
_MOODLE_FOLDER = re.compile(r"([^_]*)_(\d+)_assignsubmission_(file|onlinetext)(_.*)?", re.DOTALL)
# Canvas takes the first two pieces that are numbers for the student and the file handed in.
_CANVAS_FILE = re.compile(r"((?:anon_[0-9A-Za-z]+|(?:[^_]+_)+?\d+)_\d+)_(.+)", re.DOTALL)
# Windows refuses some of these; a shell takes others amiss.
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
        Only hand-ins of this quiz or code item count; the newest that has such a name is taken.

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
        if match := _MOODLE_FOLDER.fullmatch(piece):
            name, number, plugin = match[1], match[2], match[3]
            return f"{_safe(name) or 'student'}_{number}_assignsubmission_{plugin}_/feedback.html"
    return None


def _canvas(results: StudentResults, assignment: str | None) -> str | None:
    for piece in _pieces(results, assignment):
        # The numbered part is given back as it was; the rest is for people.
        if match := _CANVAS_FILE.fullmatch(piece):
            rest = _safe(PurePosixPath(match[2]).stem)
            # To Canvas a last piece that begins with "link" means that a link was handed in, and no file.
            name = "feedback" if not rest or rest.split("_")[-1].startswith("link") else rest
            return f"{_safe(match[1])}_{name}.html"
    return None


LAYOUTS: Mapping[str, Layout] = {"canvas": _canvas, "moodle": _moodle, "plain": _plain}


def _pieces(results: StudentResults, assignment: str | None) -> Iterator[str]:
    """Yield the names of folders and files that a learning system can have given, newest hand-in first.

    They are at the top of the download, maybe in a folder around all of it; students name what lies deeper.
    """
    # Newest first: a resubmission has the numbers that the system asks for now.
    items = [i for i in results.items if assignment in (None, i.column.assignment)]
    for item in sorted(items, key=lambda i: i.handed or i.graded, reverse=True):
        yield from item.filename.split("/")[:2]


def _safe(name: str) -> str:
    # Numbers stay as they are: by them the learning system finds the student.
    # 120 characters leave room for the other pieces: file systems take 255 bytes.
    return _UNSAFE.sub("-", name).strip(" .")[:120]


_NO_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a ZIP file can hold
_A_FILE = 0o100644 << 16  # an ordinary file that everybody may read, as Unix writes it
_UNIX = 3
_NAME_FORMS = {
    "canvas": "as Canvas gives it: NAME_NUMBER_NUMBER_FILE",
    "moodle": "as Moodle gives it: NAME_NUMBER_assignsubmission_file_",
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A student whose page isn't in the archive, and why."""

    student: str
    reason: str


@dataclass(slots=True)
class PageArchive:
    """Collects under which names pages go into an archive.

    Parameters
    ----------
    layout : str
        One of :data:`engine.pages.zip.LAYOUTS`.
    assignment : str, optional
        As in :func:`engine.pages.zip.archive_name`.
    """

    layout: str
    assignment: str | None = None
    _claims: dict[str, list[tuple[str, Path]]] = field(default_factory=dict)
    _nameless: list[LeftOut] = field(default_factory=list)

    def add(self, results: StudentResults, page: Path) -> None:
        """Take in one student's page."""
        name = archive_name(self.layout, results, self.assignment)
        if name is not None:
            self._claims.setdefault(name, []).append((results.student, page))
            return
        has_work = any(self.assignment in (None, item.column.assignment) for item in results.items)
        reason = f"no hand-in in the store has a name {_NAME_FORMS[self.layout]}"
        self._nameless.append(LeftOut(results.student, reason if has_work else "nothing was handed in"))

    @property
    def members(self) -> list[tuple[str, Path]]:
        """The names in the archive with their files, in order."""
        return [(name, claims[0][1]) for name, claims in sorted(self._claims.items()) if len(claims) == 1]

    @property
    def left_out(self) -> list[LeftOut]:
        """Who isn't in it, by id; several students whose hand-ins have the same name are all left out."""
        shared = [
            LeftOut(student, f"another student's hand-in has the same name: {name.split('/')[0]}")
            for name, claims in self._claims.items()
            if len(claims) > 1
            for student, _ in claims
        ]
        return sorted([*self._nameless, *shared], key=lambda page: page.student)


def write_zip(path: Path, members: Iterable[tuple[str, Path]]) -> int:
    """Write an archive in one step and return its size in bytes.

    Times and rights of the files aren't kept, so that the same pages give the same archive.
    """
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, page in members:
            entry = zipfile.ZipInfo(name, _NO_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr, entry.create_system = _A_FILE, _UNIX
            with page.open("rb") as source, archive.open(entry, "w") as target:
                shutil.copyfileobj(source, target)
    return path.stat().st_size
