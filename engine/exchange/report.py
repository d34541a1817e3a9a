"""What an import did, for people and for scripts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import Diagnostic
from engine.exchange.question import Note, Skip

__all__ = ["ImportReport", "Imported"]


@dataclass(frozen=True, slots=True)
class Imported:
    """One question that became a problem file.

    Parameters
    ----------
    id : str
    path : Path
    type : str
        Answer type.
    name : str
        What its author called it.
    line : int
        Where it begins in the file that was read.
    notes : tuple of Note
    by_hand : tuple of str
        Comment lines for a key that could be recomputed; empty if there is nothing to recompute.
    is_new : bool
        False where the very same file was there already.
    """

    id: str
    path: Path
    type: str
    name: str
    line: int
    notes: tuple[Note, ...] = ()
    by_hand: tuple[str, ...] = ()
    is_new: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return the item as scripts get it."""
        return {
            "id": self.id,
            "file": str(self.path),
            "type": self.type,
            "name": self.name,
            "line": self.line,
            "new": self.is_new,
            "notes": [
                {"line": note.place.line if note.place else self.line, "message": note.message}
                for note in self.notes
            ],
            "key_typed_by_hand": bool(self.by_hand),
            "suggested_keys": [
                line.partition('"')[2].removesuffix('"') for line in self.by_hand if 'key: "' in line
            ],
        }


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Everything that an import has to say.

    Parameters
    ----------
    file : str
    format : str
    encoding : str
    guessed_encoding : bool
    items : tuple of Imported
    skipped : tuple of Skip
        In the order of the file.
    faults : tuple of Diagnostic
        What is wrong with the file, if that was no reason to stop.
    """

    file: str
    format: str
    encoding: str
    guessed_encoding: bool
    items: tuple[Imported, ...]
    skipped: tuple[Skip, ...]
    faults: tuple[Diagnostic, ...] = ()

    @property
    def by_hand(self) -> tuple[str, ...]:
        """Ids of the items whose key could be recomputed."""
        return tuple(item.id for item in self.items if item.by_hand)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of ``grade import --json``."""
        return {
            "file": self.file,
            "format": self.format,
            "encoding": self.encoding,
            "encoding_guessed": self.guessed_encoding,
            "items": [item.as_json() for item in self.items],
            "skipped": [
                {
                    "name": skip.name,
                    "type": skip.type,
                    "line": skip.place.line,
                    "column": skip.place.column,
                    "reason": skip.reason,
                    "next_step": skip.next_step,
                }
                for skip in self.skipped
            ],
            "faults": [
                {"line": fault.line, "column": fault.column, "message": fault.message}
                for fault in self.faults
            ],
            "key_typed_by_hand": list(self.by_hand),
        }
