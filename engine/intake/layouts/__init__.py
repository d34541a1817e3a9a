"""What downloads look like: one file per system, and the table of them.

A new one is a class in a file here and a line in the table.
"""

from __future__ import annotations

from engine.errors import IntakeError
from engine.foreign import clean_line
from engine.intake.layouts.canvas import Canvas
from engine.intake.layouts.classroom import Classroom
from engine.intake.layouts.gradescope import Gradescope
from engine.intake.layouts.layout import HandIn, Layout, Person, Place
from engine.intake.layouts.listing import Listing, levels
from engine.intake.layouts.moodle import Moodle
from engine.intake.layouts.plain import Plain

__all__ = ["LAYOUTS", "HandIn", "Layout", "Listing", "Person", "Place", "Plain", "choose"]

# In the order in which they are tried; anything is a plain one.
LAYOUTS: dict[str, type[Layout]] = {
    layout.name: layout for layout in (Gradescope, Moodle, Canvas, Classroom, Plain)
}


def choose(listing: Listing, wanted: str | None, where: str) -> Layout:
    """Return the layout of a download.

    Parameters
    ----------
    listing : Listing
    wanted : str or None
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
            if name == Plain.name or wanted not in {None, name}:
                continue
            layout = kind.found(level, forced=wanted is not None)
            if layout is not None:
                return layout
    if wanted in {None, Plain.name}:
        return Plain.found(listing)
    seen = ", ".join(clean_line(top, 60) for top in [*listing.folders, *listing.files][:3])
    raise IntakeError(
        f"nothing in here is named as in a download of the layout {wanted}",
        where=where,
        got=seen or "nothing",
        next_step="leave --layout out to have it found out",
    )
