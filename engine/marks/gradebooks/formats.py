"""What is asked of a gradebook file, what is made, and what a person should look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from engine.course import ClassTable, Roster

__all__ = ["Gradebook", "Kind", "Listed", "Request"]


class Kind(StrEnum):
    """Why something is listed."""

    UNKNOWN = "unknown"  # a row of the learning system's file that is nobody of ours
    ABSENT = "absent"  # one of ours who isn't in the file
    BY_NAME = "by name"  # a row that nothing but a name says whose it is
    UNGRADED = "ungraded"
    UNREADABLE = "unreadable"
    LEFT = "left"  # a cell that is as it was
    NOTE = "note"  # worth knowing, nothing to do


@dataclass(frozen=True, slots=True)
class Listed:
    """One thing that a person should know.

    Parameters
    ----------
    kind : Kind
    where : str
        A student, a heading, or a place in the file: may be foreign.
    message : str
    """

    kind: Kind
    where: str
    message: str


@dataclass(frozen=True)
class Request:
    """What a gradebook file is to hold.

    Parameters
    ----------
    table : ClassTable
    roster : Roster
        Empty where there is none: ids of the table are all that is known then.
    titles : mapping of str to str
        Assignment → its title.
    columns : tuple of str
        ``HEADING=ID`` or ``HEADING=ID+ID``; empty: what the format does by itself.
    into : Path or None
        The learning system's own file, to be filled.
    scale : bool
        Whether marks are scaled to the points that a column has in that file.
    feedback : bool
        Whether comments are written too.
    key : str or None
        By what the learning system knows people: ``email``, ``idnumber`` or ``username``.
    delimiter : str or None
    decimal_comma, marked : bool
        ``7,5`` for 7.5; a byte order mark at the beginning.
    protect_ids : bool
        Whether ids that a spreadsheet would change are written as ``="007"``.
    """

    table: ClassTable
    roster: Roster = field(default_factory=Roster)
    titles: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    into: Path | None = None
    scale: bool = False
    feedback: bool = False
    key: str | None = None
    delimiter: str | None = None
    decimal_comma: bool = False
    marked: bool = False
    protect_ids: bool = False


@dataclass(frozen=True)
class Gradebook:
    """A gradebook file.

    Parameters
    ----------
    content : bytes
        The whole file.
    headings : mapping of str to str
        Heading in the file → the ids of ours that it holds.
    marks : int
        Cells with points, or with the sign for excused.
    listed : tuple of Listed
    """

    content: bytes
    headings: Mapping[str, str]
    marks: int
    listed: tuple[Listed, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether nothing of it needs a person."""
        return all(one.kind is Kind.NOTE for one in self.listed)
