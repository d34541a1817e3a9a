"""How a format writes what is no number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.foreign import clean_line
from engine.gradebooks.cells import number_cell
from engine.gradebooks.entries import Entry, State
from engine.gradebooks.gradebook import Kind, Listed
from engine.plurals import agree

__all__ = ["Signs", "entry_cell", "tell_entry"]


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of a format.

    Parameters
    ----------
    excused : str or None
        None where it has no sign for it.
    missing, ungraded, unreadable : str
    locked : mapping of str to str
        A cell of the learning system that is never written to → why.
    """

    excused: str | None
    missing: str = ""
    ungraded: str = ""
    unreadable: str = ""
    locked: Mapping[str, str] = field(default_factory=dict)

    def has(self, entry: Entry) -> bool:
        """Tell whether an entry is a mark that can be written: points, or the sign for excused."""
        return entry.points is not None or (entry.state is State.EXCUSED and self.excused is not None)


def entry_cell(entry: Entry, signs: Signs, *, decimal_comma: bool = False) -> str:
    """Return an entry as the cell of a text file."""
    if entry.points is not None:
        return number_cell(entry.points, decimal_comma=decimal_comma)
    if entry.state is State.EXCUSED and signs.excused is not None:
        return signs.excused
    words = {State.UNGRADED: signs.ungraded, State.UNREADABLE: signs.unreadable}
    return words.get(entry.state, signs.missing)


def tell_entry(entry: Entry, student: str, heading: str, *, had: str = "") -> list[Listed]:
    """Return what a person should know of an entry: no mark though there is work, and how a sum came about.

    Parameters
    ----------
    entry : Entry
    student : str
    heading : str
    had : str
        What stands in the learning system's file.
    """
    head = clean_line(heading, 80)
    stood = f" ({clean_line(had, 40)} stood there)" if had else ""
    found = []
    if entry.state is State.UNGRADED:
        found.append(Listed(Kind.UNGRADED, student, f"{head}: not graded yet, no mark is written{stood}"))
    elif entry.state is State.UNREADABLE:
        told = f"{head}: what was handed in can't be read, no mark is written{stood}"
        found.append(Listed(Kind.UNREADABLE, student, told))
    elif entry.unread:
        count = agree(len(entry.unread), "count")
        told = f"{head}: {', '.join(entry.unread)} can't be read and {count} for nothing"
        found.append(Listed(Kind.UNREADABLE, student, told))
    if entry.scaled_from is not None:
        points, full = (number_cell(value) for value in entry.scaled_from)
        written = "" if entry.points is None else f" and is written as {number_cell(round(entry.points, 2))}"
        told = f"{head}: a part is excused or dropped, so {points} of {full} stands for the whole{written}"
        found.append(Listed(Kind.NOTE, student, told))
    return found
