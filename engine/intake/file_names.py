"""What a file's name says: which item, which student; and which names of archives are refused.

Learning systems and browsers rename files (``softmax-1.py``, ``Softmax (2).py``), so an item is recognised
whatever stands around its id.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from pathlib import PurePosixPath

from engine.text.words import near_words

__all__ = ["ItemNames", "common_length", "copy_of", "name_fault", "name_parts", "plain_name", "quiz_head"]

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
_LONGEST = 1000
_DEEPEST = 32


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
    if len(name) > _LONGEST or name.count("/") > _DEEPEST:
        return "has too long a name"
    return None


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Return how far two texts, or two paths by their parts, are the same from the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
