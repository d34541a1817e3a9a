"""List what a folder holds, before anybody asks what it means.

Links are never followed: a link in a hand-in could lead to the grader's own files.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import IntakeError
from engine.hand_ins import IntakeProblem
from engine.intake.answer_rows import TABLES
from engine.intake.file_names import name_fault, name_parts, plain_name
from engine.text.escape import clean_line

__all__ = [
    "FileEntry", "FoundEntries", "archive_suffix", "is_junk", "is_listing", "is_wanted", "packed_otherwise",
    "read_folder",
]  # fmt: skip

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
    """Everything found: files, empty folders, problems, ignored leftovers."""

    files: list[FileEntry] = field(default_factory=list)
    folders: set[tuple[str, ...]] = field(default_factory=set)
    problems: list[IntakeProblem] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

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
_DEEPEST = 16


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
        if len(parts) >= _DEEPEST:
            entries.refuse(label, f"folders more than {_DEEPEST} deep are not read", "move the files up")
            return
        entries.folders.add(parts)
        _walk(Path(entry.path), parts, entries)
    elif entry.is_file(follow_symlinks=False):
        may_matter = is_wanted(parts[-1]) or archive_suffix(parts[-1])
        entries.files.append(FileEntry(parts, Path(entry.path) if may_matter else None))
    else:
        entries.refuse(label, "this is no ordinary file")
