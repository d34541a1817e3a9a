"""``autograder.json``: what an autograder grades, and when hidden checks are shown."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.errors import InputError

__all__ = ["HIDDEN", "AutograderSettings", "read_settings"]

# Gradescope's words. Its fourth, "hidden", is for tests without points: a total with it tells what is hidden.
HIDDEN = ("after_due_date", "after_published", "visible")


@dataclass(frozen=True, slots=True)
class AutograderSettings:
    """The file.

    Parameters
    ----------
    items : tuple of str
        Code exercises.
    hidden : str
        When students see the checks whose inputs they don't see: one of :data:`HIDDEN`.
    tier : str or None
        Sandbox tier that is demanded.
    """

    items: tuple[str, ...]
    hidden: str = HIDDEN[0]
    tier: str | None = None

    def text(self) -> str:
        """Return the file's text."""
        return json.dumps(asdict(self), indent=1) + "\n"


def read_settings(path: Path) -> AutograderSettings:
    """Read the file; an :class:`InputError` says what is wrong with it."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        found = AutograderSettings(tuple(data["items"]), data["hidden"], data["tier"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _faulty(path, repr(error)) from error
    if not found.items or not all(isinstance(item, str) for item in found.items):
        raise _faulty(path, "no items")
    if found.hidden not in HIDDEN:
        raise _faulty(path, f"hidden: {found.hidden!r}")
    return found


def _faulty(path: Path, got: str) -> InputError:
    return InputError(
        "the autograder's settings can't be used",
        where=str(path),
        got=got,
        next_step="make the autograder again: grade autograder make",
    )
