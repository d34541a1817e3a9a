"""What an entry of an archive is called → the folders and the file that it means, or why not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import takewhile

__all__ = ["common_length", "name_fault", "name_parts", "plain_name"]

_DRIVE = re.compile(r"^[A-Za-z]:")
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


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how far two texts, or two paths by their parts, are the same from the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
