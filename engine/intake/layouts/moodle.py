"""Moodle's download of an assignment: ``Ada Lovelace_12345_assignsubmission_file_/softmax.py``.

The number counts hand-ins of one assignment and is nobody's id.  Where Moodle hides the names, all are called
``Participant``, and the number is all there is; a team's folder has the team's name.  Without folders the
file's name follows directly: ``Ada Lovelace_12345_assignsubmission_file_softmax.py``.
"""

from __future__ import annotations

import re
from typing import ClassVar, Self

from engine.intake.layouts.layout import DownloadLayout, DownloadListing, DownloadPerson, HandIn, PathOwner

_TOP_NAME = re.compile(
    r"(?P<name>.+?)(?:_(?P<number>\d+))?_assignsubmission_(?P<kind>[a-z0-9]+)(?:_(?P<own>.*))?", re.DOTALL
)


class MoodleLayout(DownloadLayout):
    """A bulk download of Moodle."""

    name: ClassVar[str] = "moodle"

    def __init__(self, listing: DownloadListing) -> None:
        super().__init__(listing)
        read = (_read(top) for top in (*listing.files, *listing.folders))
        people = {(parts["name"], parts["number"]) for parts in read if parts is not None}
        names = {name for name, _ in people}
        # Where names are hidden, all bear the same one, which is nobody's.
        is_one = len(names) == 1 < len(people) and not any(map(listing.roster.match, names))
        self._hidden = "Participant" in names or is_one

    @classmethod
    def recognise(cls, listing: DownloadListing, *, forced: bool) -> Self | None:
        """Return the layout where more than half of the names fit."""
        return cls(listing) if listing.fits(_read, forced=forced) else None

    def place(self, top: str, is_file: bool) -> PathOwner | None:
        """Return whose the folder is; the folders of one number are one hand-in."""
        parts = _read(top)
        if parts is None or (is_file and not parts["own"]):
            return None
        name, number = parts["name"].strip(), parts["number"] or ""
        if self._hidden:
            label = f"{name} {number}".strip()
            person = DownloadPerson(label, {"id": label}, number)
        else:
            person = DownloadPerson(f"{name}_{number}" if number else name, {"name": name}, number)
        return PathOwner(HandIn(f"{name}_{number}", (person,)), parts["own"] if is_file else "")


def _read(top: str) -> re.Match[str] | None:
    return _TOP_NAME.fullmatch(top)
