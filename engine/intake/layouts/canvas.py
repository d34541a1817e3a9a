"""Canvas's download of an assignment: flat files, ``lovelaceada_LATE_123_456_softmax-1.py``.

Before the file's own name comes the student's name (a group's for a group), ``LATE`` where Canvas counts it
as late, Canvas's number of the student, and the number of the file, which grows from file to file.  Where
names are hidden, it is ``anon_k3x9q_456_softmax.py``.  Typed text and links come as ``…_123_text.html``.
"""

from __future__ import annotations

import re
from typing import ClassVar, Self

from engine.intake.layouts.layout import DownloadLayout, DownloadListing, DownloadPerson, HandIn, PathOwner

_TOP_NAME = re.compile(
    r"(?P<name>.*?)_(?P<late>LATE_)?(?P<user>\d+)_(?:(?P<file>\d+)_)?(?P<own>.+)", re.DOTALL
)
_HIDDEN = re.compile(
    r"(?P<late>LATE_)?(?P<name>anon)_(?P<user>[0-9A-Za-z]+)_(?:(?P<file>\d+)_)?(?P<own>.+)", re.DOTALL
)
# Canvas makes these itself, of answers typed into the page and of links.
_TYPED = ("text.html", "link.html")


class CanvasLayout(DownloadLayout):
    """A bulk download of Canvas."""

    name: ClassVar[str] = "canvas"
    marks_late: ClassVar[bool] = True

    @classmethod
    def recognise(cls, listing: DownloadListing, *, forced: bool) -> Self | None:
        """Return the layout where more than half of the names fit."""
        return cls(listing) if listing.fits(_read, forced=forced) else None

    def place(self, top: str, is_file: bool) -> PathOwner | None:
        """Return whose the file is, and that all files of a student belong together."""
        parts = _read(top)
        if parts is None:
            return None
        name, user = parts["name"], parts["user"]
        who = {"name": name} if parts.re is _HIDDEN else {"lms_id": user, "name": name}
        person = DownloadPerson(f"{name}_{user}", who, user)
        if parts.re is _HIDDEN:
            person = DownloadPerson(f"anon_{user}", {"id": f"anon_{user}"}, user)
        hand_in = HandIn(user, (person,), marked_late=parts["late"] is not None)
        return PathOwner(hand_in, parts["own"], order=int(parts["file"] or 0))


def _read(top: str) -> re.Match[str] | None:
    for pattern in (_HIDDEN, _TOP_NAME):
        match = pattern.fullmatch(top)
        # Without the file's own number it can only be what Canvas itself writes.
        if match is not None and (match["file"] is not None or match["own"] in _TYPED):
            return match
    return None
