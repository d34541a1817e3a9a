"""A folder of hand-ins, read in place. Links are never followed."""

from __future__ import annotations

import os
from pathlib import Path

from engine.errors import IntakeError
from engine.foreign import clean_line
from engine.intake.entries import Entries, Entry, archive_suffix, is_junk, is_wanted
from engine.intake.entry_names import name_fault, name_parts, plain_name

__all__ = ["read_folder"]

_MOST_FILES = 200_000  # that are listed; how many of one student's are looked at is said elsewhere
_DEEPEST = 16


def read_folder(folder: Path) -> Entries:
    """Return what lies in `folder`.

    Raises
    ------
    IntakeError
        It can't be listed, or holds more than 200,000 files.
    """
    entries = Entries()
    _walk(folder, (), entries)
    return entries


def _walk(folder: Path, parts: tuple[str, ...], entries: Entries) -> None:
    try:
        with os.scandir(folder) as listing:
            found = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        if not parts:
            raise IntakeError(
                "the folder can't be read", where=clean_line(str(folder)), got=error.strerror or str(error)
            ) from error
        entries.refuse("/".join(parts), "this folder can't be read", "check its rights")
        return
    for entry in found:
        _take(entry, parts, plain_name(entry.name), entries)


def _take(entry: os.DirEntry[str], above: tuple[str, ...], name: str, entries: Entries) -> None:
    # Some systems unpack `ada\softmax.py` as a file of this name.
    parts = (*above, *name_parts(name))
    shown = "/".join((*above, name))
    if len(entries.files) + len(entries.ignored) > _MOST_FILES:
        raise IntakeError(
            "the folder holds too many files", where=clean_line(shown), expected=f"at most {_MOST_FILES}"
        )
    if fault := name_fault(name):
        entries.refuse(shown, f"this entry {fault}", "rename it")
    elif is_junk(parts):
        entries.ignored.append(clean_line(shown, 300))
    elif entry.is_symlink():
        entries.refuse(shown, "this is a link; links are not followed", "hand in the file itself")
    elif entry.is_dir(follow_symlinks=False):
        if len(parts) >= _DEEPEST:
            entries.refuse(shown, f"folders more than {_DEEPEST} deep are not read", "move the files up")
            return
        entries.folders.add(parts)
        _walk(Path(entry.path), parts, entries)
    elif entry.is_file(follow_symlinks=False):
        wanted = is_wanted(parts[-1]) or archive_suffix(parts[-1])
        entries.files.append(Entry(parts, Path(entry.path) if wanted else None))
    else:
        entries.refuse(shown, "this is no ordinary file")
