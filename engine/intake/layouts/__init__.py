"""The layouts of downloads: one module for each learning system, and the table of them.

To add one, write a class in a module here and a line in the table.
"""

from __future__ import annotations

from engine.errors import IntakeError
from engine.intake.layouts.canvas import CanvasLayout
from engine.intake.layouts.classroom import ClassroomLayout
from engine.intake.layouts.gradescope import GradescopeLayout
from engine.intake.layouts.layout import (
    DownloadLayout,
    DownloadListing,
    DownloadPerson,
    HandIn,
    PathOwner,
    levels,
)
from engine.intake.layouts.moodle import MoodleLayout
from engine.intake.layouts.plain import PlainLayout
from engine.text.words import clean_line

__all__ = [
    "LAYOUTS", "DownloadLayout", "DownloadListing", "DownloadPerson", "HandIn", "PathOwner", "PlainLayout",
    "choose",
]  # fmt: skip

# In the order in which they are tried; anything is a plain one.
LAYOUTS: dict[str, type[DownloadLayout]] = {
    layout.name: layout
    for layout in (GradescopeLayout, MoodleLayout, CanvasLayout, ClassroomLayout, PlainLayout)
}


def choose(listing: DownloadListing, layout_name: str | None, where: str) -> DownloadLayout:
    """Return the layout of a download.

    Parameters
    ----------
    listing : DownloadListing
    layout_name : str or None
        Name of the layout that it must have; None to find it out.
    where : str
        For the message; already clean.

    Raises
    ------
    IntakeError
        Nothing in it fits the layout that is wanted.
    """
    for level in levels(listing):
        for name, kind in LAYOUTS.items():
            if name == PlainLayout.name or layout_name not in {None, name}:
                continue
            layout = kind.recognise(level, forced=layout_name is not None)
            if layout is not None:
                return layout
    if layout_name in {None, PlainLayout.name}:
        return PlainLayout.recognise(listing)
    examples = ", ".join(clean_line(top, 60) for top in [*listing.folders, *listing.files][:3])
    raise IntakeError(
        f"nothing in here is named as in a download of the layout {layout_name}",
        where=where,
        got=examples or "nothing",
        next_step="leave --layout out to have it found out",
    )
