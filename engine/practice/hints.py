"""How many hints of each item a person has seen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.files import replace_text

__all__ = ["HintRecord"]


@dataclass(frozen=True)
class HintRecord:
    """A small file ``{"seen": {item: count}}``; it decides about no mark.

    So a record that is damaged counts as empty, and whoever can't write one still gets hints.

    Parameters
    ----------
    path : Path
        Its folder must exist.
    """

    path: Path

    def seen(self, item: str) -> int:
        """Return how many hints of an item were given."""
        return self._all().get(item, 0)

    def remember(self, item: str, count: int) -> None:
        """Write down how many hints of an item were given.

        Raises
        ------
        OSError
            The record is as it was.
        """
        counts = {name: seen for name, seen in self._all().items() if name != item}
        if count:
            counts[item] = count
        replace_text(self.path, json.dumps({"seen": dict(sorted(counts.items()))}, indent=1) + "\n")

    def _all(self) -> Mapping[str, int]:
        try:
            read = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        seen = read.get("seen") if isinstance(read, dict) else None
        if not isinstance(seen, dict):
            return {}
        return {item: count for item, count in seen.items() if type(count) is int and count > 0}
