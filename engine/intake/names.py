"""What a file's name says: which item, which student."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

__all__ = ["ItemNames", "copy_of", "quiz_head"]

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
    found = _COPY.search(path.stem)
    if found is None or not found.start():
        return filename, 0
    number = re.search(r"\d+", found.group())
    return path.stem[: found.start()] + path.suffix, int(number.group()) if number else 1


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
        close = difflib.get_close_matches(stem, list(self._items), n=1, cutoff=0.6)
        return self._items[close[0]] if close else None


def quiz_head(text: str) -> tuple[str | None, str | None]:
    """Return what a YAML file claims at its top level: (quiz id, student); None where it says nothing."""
    found: dict[str, str] = {}
    for match in _HEAD.finditer(text):
        value = next((group for group in match.groups()[1:] if group is not None), "").strip()
        found.setdefault(match.group(1), value)
    return found.get("quiz") or None, found.get("student") or None
