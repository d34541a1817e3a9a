"""The formats that there are: one file each, loaded when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from engine.course import Roster
from engine.errors import UsageError
from engine.marks.results import ClassTable
from engine.text.escape import clean_line
from engine.text.words import suggestion

__all__ = [
    "FORMATS",
    "GradebookFile",
    "GradebookFormat",
    "GradebookNotice",
    "GradebookRequest",
    "NoticeKind",
    "gradebook_format",
]


# ----------------------------------------------------------------------------------------------------
# What is asked of a gradebook file, what is made, and what a person should look at.


class NoticeKind(StrEnum):
    """Why something is listed."""

    UNKNOWN = "unknown"  # a row of the learning system's file that is nobody of ours
    ABSENT = "absent"  # one of ours who isn't in the file
    BY_NAME = "by name"  # a row that nothing but a name says whose it is
    UNGRADED = "ungraded"
    UNREADABLE = "unreadable"
    LEFT = "left"  # a cell that is as it was
    NOTE = "note"  # worth knowing, nothing to do


@dataclass(frozen=True, slots=True)
class GradebookNotice:
    """One thing that a person should know.

    Parameters
    ----------
    kind : NoticeKind
    where : str
        A student, a heading, or a place in the file: may be foreign.
    message : str
    """

    kind: NoticeKind
    where: str
    message: str


@dataclass(frozen=True)
class GradebookRequest:
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
class GradebookFile:
    """A gradebook file.

    Parameters
    ----------
    content : bytes
        The whole file.
    headings : mapping of str to str
        Heading in the file → the ids of ours that it holds.
    marks : int
        Cells with points, or with the sign for excused.
    listed : tuple of GradebookNotice
    """

    content: bytes
    headings: Mapping[str, str]
    marks: int
    listed: tuple[GradebookNotice, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether nothing of it needs a person."""
        return all(one.kind is NoticeKind.NOTE for one in self.listed)


# Name → module of this package, which has it as FORMAT.
FORMATS = {"canvas": "canvas", "moodle": "moodle", "csv": "plain_csv", "excel": "excel"}


@dataclass(frozen=True, slots=True)
class GradebookFormat:
    """A format.

    Parameters
    ----------
    name : str
    takes : frozenset of str
        The fields of :class:`GradebookRequest` that it understands, beside table, roster, titles and columns.
    make : callable
        Makes the file.
    """

    name: str
    takes: frozenset[str]
    make: Callable[[GradebookRequest], GradebookFile]


def gradebook_format(name: str) -> GradebookFormat:
    """Return a format by its name; a :class:`UsageError` if there is none."""
    if name not in FORMATS:
        raise UsageError(
            f"there is no gradebook format {clean_line(name, 40)!r}",
            expected=", ".join(FORMATS),
            next_step=suggestion(name, FORMATS),
        )
    found = importlib.import_module(f"engine.marks.gradebooks.{FORMATS[name]}").FORMAT
    assert isinstance(found, GradebookFormat)
    return found
