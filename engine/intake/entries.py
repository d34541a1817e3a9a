"""What a folder or an archive holds, before anybody asks what it means."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from engine.course import IntakeProblem
from engine.foreign import clean_line
from engine.intake.answers.kinds import TABLES

__all__ = ["Entries", "Entry", "archive_suffix", "is_junk", "is_listing", "is_wanted", "packed_otherwise"]

# Suffixes whose files may be graded; nothing else but archives is ever unpacked or opened.
_WANTED = {".py", ".ipynb", ".yaml", ".yml", *TABLES}
_ARCHIVES = (".tar.gz", ".tgz", ".tar", ".zip")
_OTHER_ARCHIVES = (".7z", ".rar", ".gz", ".xz", ".bz2", ".zst", ".tbz2", ".txz")
_LISTINGS = {"submission_metadata.yml"}
_JUNK = {"__macosx", "__pycache__", "thumbs.db", "desktop.ini", "node_modules"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One file; ``parts`` is its name by folders, NFC; ``path`` is None where it wasn't taken out."""

    parts: tuple[str, ...]
    path: Path | None

    @property
    def name(self) -> str:
        """Name as handed in, cleaned for messages."""
        return clean_line("/".join(self.parts), 300)


@dataclass(slots=True)
class Entries:
    """Everything found: files, empty folders, problems, ignored leftovers."""

    files: list[Entry] = field(default_factory=list)
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
    return Path(name).suffix.lower() in _WANTED


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
