"""Repositories of a class, as GitHub Classroom and tools like it name them: ``softmax-ada-l/softmax.py``.

All folders begin with the assignment's name; what follows is the login.  Nothing tells when they were handed
in: the times of commits are what the student's own machine says.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import ClassVar, Self

from engine.intake.download_entries import common_length
from engine.intake.layouts.layout import (
    DownloadLayout,
    DownloadListing,
    DownloadPerson,
    HandIn,
    PathOwner,
    without_suffix,
)

# GitHub adds the branch to the name of a downloaded repository.
_BRANCHES = ("-main", "-master")


class ClassroomLayout(DownloadLayout):
    """One repository per student."""

    name: ClassVar[str] = "classroom"

    def __init__(self, listing: DownloadListing) -> None:
        super().__init__(listing)
        self._branch, self._prefix = _around(listing)

    @classmethod
    def recognise(cls, listing: DownloadListing, *, forced: bool) -> Self | None:
        """Return the layout for folders with one beginning that are repositories or end in known logins."""
        layout = cls(listing)
        folders = listing.folders
        if not layout._prefix or listing.files:
            return layout if forced and folders else None
        match = listing.roster.match
        known = sum(bool(match(layout._login(top))) for top in folders)
        whole = sum(bool(match(top)) for top in folders)
        return layout if forced or known > whole or (not whole and _has_git(listing)) else None

    def place(self, top: str, is_file: bool) -> PathOwner | None:
        """Return whose repository it is."""
        if is_file or not top.startswith(self._prefix):
            return None
        login = self._login(top)
        return PathOwner(HandIn(top, (DownloadPerson(login, {"login": login}, login),)))

    def is_leftover(self, inside: tuple[str, ...]) -> bool:
        """Return whether more than half of several repositories hold a file of this path: the template's."""
        return self._copies[inside[1:]] > max(1, len(self.listing.folders) // 2)

    @cached_property
    def _copies(self) -> Counter[tuple[str, ...]]:
        depth = self.listing.depth
        return Counter(entry.parts[depth + 1 :] for entry in self.listing.entries.files)

    def _login(self, top: str) -> str:
        return without_suffix(top).removesuffix(self._branch)[len(self._prefix) :]


def _around(listing: DownloadListing) -> tuple[str, str]:
    # The assignment's name comes before every login, the branch's after it.
    names = [without_suffix(top) for top in listing.folders]
    branch = next((b for b in _BRANCHES if names and all(name.endswith(b) for name in names)), "")
    names = sorted(name.removesuffix(branch) for name in names)
    if not names:
        return branch, ""
    common = names[0][: common_length(names[0], names[-1])]
    # A login isn't empty, so a lone repository's name isn't all assignment.
    ends = [m.end() for m in re.finditer("-", common) if all(len(name) > m.end() for name in names)]

    def known(end: int) -> int:
        return sum(bool(listing.roster.match(name[end:])) for name in names)

    # Logins can begin alike, too: what makes most of them known is the assignment's name.
    return branch, common[: max(ends, key=lambda end: (known(end), end))] if ends else ""


def _has_git(listing: DownloadListing) -> bool:
    inside = (path.split("/")[listing.depth + 1 :] for path in listing.entries.ignored)
    return any(parts and parts[0] == ".git" for parts in inside)
