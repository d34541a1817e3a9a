"""Putting marks into a learning system's own file; what isn't ours stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.course import StudentRow
from engine.foreign import clean_line
from engine.gradebooks.cells import number_cell, text_cell
from engine.gradebooks.entries import Entry, State, comment_of, entry_of
from engine.gradebooks.gradebook import Gradebook, Kind, Listed
from engine.gradebooks.people import Joined
from engine.gradebooks.sheet import Sheet, SheetRow
from engine.gradebooks.signs import Signs, entry_cell, tell_entry
from engine.gradebooks.targets import Target
from engine.plurals import counted

__all__ = ["Place", "fill_sheet", "place_of"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a target's marks go.

    Parameters
    ----------
    target : Target
    column : int
    factor : float
        What marks are multiplied with.
    comments : int or None
        Column of the comments; None: they aren't written.
    """

    target: Target
    column: int
    factor: float = 1.0
    comments: int | None = None


def place_of(
    target: Target, column: int, heading: str, possible: str, *, scale: bool
) -> tuple[Place, list[Listed]]:
    """Return where a target's marks go, and what to say of the full points that the file has there.

    Parameters
    ----------
    target : Target
    column : int
    heading : str
    possible : str
        The file's full points as it writes them; may be no number.
    scale : bool
        Whether marks are scaled to them.
    """
    try:
        points = float(possible.replace(",", "."))
    except ValueError:
        return Place(target, column), []
    if abs(points - target.maximum) < 1e-4 or not target.maximum:
        return Place(target, column), []
    if scale:
        return Place(target, column, points / target.maximum), []
    ours = number_cell(target.maximum)
    told = (
        f"{counted(number_cell(points), 'full point')} in the file, {ours} here: marks are "
        "written unscaled (--scale)"
    )
    return Place(target, column), [Listed(Kind.LEFT, heading, told)]


def fill_sheet(sheet: Sheet, joined: Joined, places: Sequence[Place], signs: Signs) -> Gradebook:
    """Return the file with our marks in it.

    Where there is a mark, it is written. What is ungraded or can't be read is written as none, and listed.
    Where nothing was handed in, the cell stays as it is, and is listed if something stands there.
    """
    listed = list(joined.listed)
    for ours in joined.absent:
        if any(entry_of(ours, place.target).state is not State.MISSING for place in places):
            listed.append(Listed(Kind.ABSENT, ours.student, "has marks and no row in the file"))
    marks = 0
    for row, ours in joined.rows:
        for place in places:
            marks += _fill(sheet, row, ours, place, signs, listed)
    if changed := sheet.changed():
        told = f"cells that began like a formula and have an apostrophe before them now: {changed}"
        listed.append(Listed(Kind.NOTE, sheet.file, told))
    headings = {sheet.header[place.column]: place.target.ids for place in places}
    return Gradebook(sheet.content(), headings, marks, tuple(listed))


def _fill(
    sheet: Sheet, row: SheetRow, ours: StudentRow, place: Place, signs: Signs, listed: list[Listed]
) -> bool:
    """Fill one cell, and the comment beside it; return whether a mark was written."""
    entry = entry_of(ours, place.target)
    heading = clean_line(sheet.header[place.column], 80)
    had = row.cells[place.column]
    listed += tell_entry(entry, ours.student, heading, had=had)
    is_mark = signs.has(entry)
    if had in signs.locked:
        if is_mark:
            told = f"{heading}: {signs.locked[had]}; our mark isn't written"
            listed.append(Listed(Kind.LEFT, ours.student, told))
        return False
    if is_mark or entry.state in (State.UNGRADED, State.UNREADABLE):
        scaled = entry if entry.points is None else replace(entry, points=entry.points * place.factor)
        row.raw[place.column] = entry_cell(scaled, signs, decimal_comma=sheet.decimal_comma)
    elif told := _left(entry, heading, had, signs):
        listed.append(Listed(Kind.LEFT, ours.student, told))
    if place.comments is not None and (comment := comment_of(ours, place.target.columns)):
        row.raw[place.comments] = text_cell(comment)
    return is_mark


def _left(entry: Entry, heading: str, had: str, signs: Signs) -> str:
    """Return what to say of a cell that stays as it is; nothing where it is blank and should be."""
    if entry.state is State.EXCUSED:
        return f"{heading}: excused here; say so in the learning system yourself"
    if had in ("", signs.missing):
        return ""
    return f"{heading}: nothing was handed in, and {clean_line(had, 40)} stays in the file"
