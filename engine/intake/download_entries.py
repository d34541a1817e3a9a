"""What entries of a download are called, and what a folder holds.

Names say which item a file is for, which copy it is, and whether an entry may be taken. Links are never
followed: a link in a hand-in could lead to the grader's own files.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path, PurePosixPath

from engine.errors import IntakeError
from engine.hand_ins import IntakeProblem
from engine.intake.answer_rows import TABLES
from engine.text.words import clean_line, near_words

# Browsers, file managers and learning platforms add these to the second file of a name.
_COPY = re.compile(
    r"((?<!\s)\s*+(?:\(\d{1,3}\)|-?\s*+copy(?:\s*+\(?\d{1,3}\)?)?|-\s*+kopie)|[-_]\d{1,2})$", re.IGNORECASE
)
_HEAD = re.compile(
    r"^(quiz|student)[ \t]*+:[ \t]*+(?:(?:\"([^\"\n]*+)\"|'([^'\n]*+)')[ \t]*+|([^#\n]*+))(?:#.*+)?+$",
    re.MULTILINE,
)


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().strip()
    return re.sub(r"[\s_-]+", "-", folded).strip("-")


def copy_of(filename: str) -> tuple[str, int]:
    """Return the name that a file had before it was a copy, and which copy: ``softmax (1).py`` is the first.

    The number is 0 for a name without one.
    """
    path = PurePosixPath(filename)
    match = _COPY.search(path.stem)
    if match is None or not match.start():
        return filename, 0
    number = re.search(r"\d+", match.group())
    return path.stem[: match.start()] + path.suffix, int(number.group()) if number else 1


class ItemNames:
    """Finds the item that a file's name means.

    Parameters
    ----------
    items : collection of str
        Ids of the code exercises; hyphens, underscores, blanks and case make no difference.
    """

    def __init__(self, items: Collection[str]) -> None:
        self._items: Mapping[str, str] = {_plain(item): item for item in items}

    @property
    def items(self) -> Collection[str]:
        """The ids."""
        return self._items.values()

    def find(self, filename: str) -> str | None:
        """Return the item of ``softmax.py``, ``Softmax (1).py``, ``softmax-2.ipynb``; else None."""
        stem = PurePosixPath(filename).stem
        for _ in range(3):
            item = self._items.get(_plain(stem))
            if item:
                return item
            shorter = _COPY.sub("", stem)
            if shorter == stem:
                return None
            stem = shorter
        return None

    def split(self, filename: str) -> tuple[str, str] | None:
        """Return (student, item) of ``ada_softmax.py``, ``ada_123_456_softmax-1.py`` or ``softmax_ada.py``.

        Of two items that fit the longer counts.
        """
        stem = unicodedata.normalize("NFC", PurePosixPath(filename).stem)
        cuts = [match.span() for match in re.finditer(r"[\s_-]+", stem)]
        for start, end in cuts:
            item = self.find(stem[end:] + ".py")
            if item and stem[:start]:
                return stem[:start], item
        for start, end in reversed(cuts):
            item = self.find(stem[:start] + ".py")
            if item and stem[end:]:
                return stem[end:], item
        return None

    def nearest(self, filename: str) -> str | None:
        """Return the item whose name is most like the file's, if any is."""
        stem = _plain(PurePosixPath(filename).stem)
        near = near_words(stem, self._items)
        return self._items[near[0]] if near else None


def quiz_head(text: str) -> tuple[str | None, str | None]:
    """Return what a YAML file claims at its top level: (quiz id, student); None where it says nothing."""
    claims: dict[str, str] = {}
    for match in _HEAD.finditer(text):
        value = next((group for group in match.groups()[1:] if group is not None), "").strip()
        claims.setdefault(match.group(1), value)
    return claims.get("quiz") or None, claims.get("student") or None


# What an entry of an archive is called → the folders and the file that it means, or why not.

_DRIVE = re.compile(r"^[A-Za-z]:")
# Longer or deeper names can't be stored on most systems.
_LONGEST_NAME = 1000
_DEEPEST_NAME = 32


def plain_name(name: str) -> str:
    """Return a name in NFC with ordinary blanks, so that it equals the same name from another system.

    Backslashes, by which some packers on Windows part folders, become slashes.
    """
    composed = unicodedata.normalize("NFC", name).replace("\\", "/")
    return "".join(" " if unicodedata.category(c) == "Zs" else c for c in composed)


def name_parts(name: str) -> tuple[str, ...]:
    """Return the folders and the file of a name without fault."""
    return tuple(part for part in name.split("/") if part not in {"", "."})


def name_fault(name: str) -> str | None:
    """Return why an entry of this name (as :func:`plain_name` gives it) isn't taken, None if it may be."""
    if any(not c.isprintable() for c in name):
        return "has control characters in its name"
    if name.startswith("/") or _DRIVE.match(name):
        return "has an absolute path as its name"
    if ".." in name.split("/"):
        return "has a name that leads out of the archive"
    if len(name) > _LONGEST_NAME or name.count("/") > _DEEPEST_NAME:
        return "has too long a name"
    return None


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how far two texts, or two paths by their parts, are the same from the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


# Suffixes whose files may be graded; nothing else but archives is ever unpacked or opened.
_GRADED_SUFFIXES = {".py", ".ipynb", ".yaml", ".yml", *TABLES}
_ARCHIVES = (".tar.gz", ".tgz", ".tar", ".zip")
_OTHER_ARCHIVES = (".7z", ".rar", ".gz", ".xz", ".bz2", ".zst", ".tbz2", ".txz")
_LISTINGS = {"submission_metadata.yml"}
_JUNK = {"__macosx", "__pycache__", "thumbs.db", "desktop.ini", "node_modules"}


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file; ``parts`` is its name by folders, NFC; ``path`` is None where it wasn't taken out."""

    parts: tuple[str, ...]
    path: Path | None

    @property
    def name(self) -> str:
        """Name as handed in, cleaned for messages."""
        return clean_line("/".join(self.parts), 300)


@dataclass(slots=True)
class FoundEntries:
    """Everything found: files, empty folders, problems, ignored leftovers; how many bytes were unpacked."""

    files: list[FileEntry] = field(default_factory=list)
    folders: set[tuple[str, ...]] = field(default_factory=set)
    problems: list[IntakeProblem] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    written: int = 0

    @property
    def count(self) -> int:
        """Number of files, problems and leftovers."""
        return len(self.files) + len(self.problems) + len(self.ignored)

    def refuse(self, name: str, message: str, next_step: str = "") -> None:
        """List a problem with an entry."""
        self.problems.append(IntakeProblem(clean_line(name, 300) or "(no name)", message, next_step))


def is_wanted(name: str) -> bool:
    """Return whether a file of this name may be graded."""
    return Path(name).suffix.lower() in _GRADED_SUFFIXES


def is_listing(name: str) -> bool:
    """Return whether a system lists a whole class's hand-ins in a file of this name."""
    return name in _LISTINGS


def archive_suffix(name: str) -> str:
    """Return the suffix that makes a name an archive's which is opened; nothing for other names."""
    lowered = name.lower()
    return next((suffix for suffix in _ARCHIVES if lowered.endswith(suffix)), "")


def packed_otherwise(name: str) -> bool:
    """Return whether a name is an archive's that isn't opened here."""
    return name.lower().endswith(_OTHER_ARCHIVES)


def is_junk(parts: tuple[str, ...]) -> bool:
    """Return whether systems or editors, not students, made this file."""
    return any(part.startswith(".") or part.casefold() in _JUNK for part in parts)


# A folder of hand-ins, read in place. Links are never followed.

_MOST_FILES = 200_000  # that are listed; how many of one student's are looked at is said elsewhere
# A hand-in lies two or three folders deep; each level is one recursion.
_DEEPEST_FOLDER = 16


def read_folder(folder: Path) -> FoundEntries:
    """Return what lies in `folder`.

    Raises
    ------
    IntakeError
        It can't be listed, or holds more than 200,000 files.
    """
    entries = FoundEntries()
    _walk(folder, (), entries)
    return entries


def _walk(folder: Path, parts: tuple[str, ...], entries: FoundEntries) -> None:
    try:
        with os.scandir(folder) as listing:
            children = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        if not parts:
            raise IntakeError(
                "the folder can't be read", where=clean_line(str(folder)), got=error.strerror or str(error)
            ) from error
        entries.refuse("/".join(parts), "this folder can't be read", "check its permissions")
        return
    for entry in children:
        _take(entry, parts, plain_name(entry.name), entries)


def _take(entry: os.DirEntry[str], above: tuple[str, ...], name: str, entries: FoundEntries) -> None:
    # Some systems unpack `ada\softmax.py` as a file of this name.
    parts = (*above, *name_parts(name))
    label = "/".join((*above, name))
    if len(entries.files) + len(entries.ignored) > _MOST_FILES:
        raise IntakeError(
            "the folder holds too many files", where=clean_line(label), expected=f"at most {_MOST_FILES}"
        )
    if fault := name_fault(name):
        entries.refuse(label, f"this entry {fault}", "rename it")
    elif is_junk(parts):
        entries.ignored.append(clean_line(label, 300))
    elif entry.is_symlink():
        entries.refuse(label, "this is a link; links are not followed", "hand in the file itself")
    elif entry.is_dir(follow_symlinks=False):
        if len(parts) >= _DEEPEST_FOLDER:
            entries.refuse(
                label, f"folders more than {_DEEPEST_FOLDER} deep are not read", "move the files up"
            )
            return
        entries.folders.add(parts)
        _walk(Path(entry.path), parts, entries)
    elif entry.is_file(follow_symlinks=False):
        may_matter = is_wanted(parts[-1]) or archive_suffix(parts[-1])
        entries.files.append(FileEntry(parts, Path(entry.path) if may_matter else None))
    else:
        entries.refuse(label, "this isn't a regular file")
