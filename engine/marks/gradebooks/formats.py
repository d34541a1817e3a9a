"""The gradebook formats, one module each, and the values that all of them share.

A format's module is loaded when its name is asked for, so that ``grade export csv`` needs no openpyxl. To add
a format, write a module with a :class:`GradebookFormat` called ``FORMAT`` and name it in :data:`FORMATS`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.course import Roster
from engine.errors import UsageError
from engine.marks.class_table import ClassTable, StudentResults, class_table
from engine.store import Store
from engine.text.words import clean_line, suggestion


class NoticeKind(StrEnum):
    """Why a person is given a notice."""

    UNKNOWN = "unknown"  # a row of the learning system's file that is none of our students
    ABSENT = "absent"  # one of our students who isn't in the file
    BY_NAME = "by name"  # a row matched by nothing but the name
    UNGRADED = "ungraded"
    UNREADABLE = "unreadable"
    UNTOUCHED = "left"  # a cell that is as it was
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
    """What to write into a gradebook file.

    Parameters
    ----------
    table : ClassTable
    roster : Roster
        Empty where there is none; then only the ids of the table are known.
    titles : mapping of str to str
        Assignment → its title.
    columns : tuple of str
        ``HEADING=ID`` or ``HEADING=ID+ID``; empty: the format's default.
    into : Path or None
        The learning system's own file, to be filled.
    scale : bool
        Whether marks are scaled to the points that a column has in that file.
    feedback : bool
        Whether comments are written too.
    key : str or None
        How the learning system identifies people: ``email``, ``idnumber`` or ``username``.
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
    """A gradebook file, and what a person should know of it.

    Parameters
    ----------
    content : bytes
        The whole file.
    headings : mapping of str to str
        Heading in the file → the ids of the columns under it.
    marks : int
        Cells with points, or with the sign for excused.
    notices : tuple of GradebookNotice
    """

    content: bytes
    headings: Mapping[str, str]
    marks: int
    notices: tuple[GradebookNotice, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether no notice needs a person."""
        return all(notice.kind is NoticeKind.NOTE for notice in self.notices)


def gradebook_request(
    store: Store,
    students: Iterable[StudentResults],
    roster: Roster | None,
    title: str,
    *,
    columns: tuple[str, ...] = (),
    settings: Mapping[str, Any],
) -> GradebookRequest:
    """Return the request for a class's gradebook.

    Parameters
    ----------
    store : Store
    students : iterable of StudentResults
    roster : Roster or None
    title : str
        Of the course.
    columns : tuple of str
    settings : mapping
        Further fields of a request, as :func:`check_settings` returns them.

    Raises
    ------
    UsageError
        There are no marks yet.
    """
    table = class_table(title, students)
    if not table.columns:
        raise UsageError(
            "there are no marks yet",
            where=store.where,
            next_step="hand-ins are graded by `grade batch` or by the site",
        )
    quizzes = store.sittings.quiz_titles()
    # The columns of a quiz are its questions, so the assignment has the title of the quiz.
    titles = {c.assignment: quizzes.get(c.quiz, c.quiz) if c.number else c.title for c in table.columns}
    return GradebookRequest(
        table=table, roster=roster or Roster(), titles=titles, columns=columns, **settings
    )


# Name → module of this package that defines it as FORMAT.
FORMATS = {"canvas": "canvas", "moodle": "moodle", "csv": "plain_csv", "excel": "excel"}


@dataclass(frozen=True, slots=True)
class GradebookFormat:
    """A gradebook format.

    Parameters
    ----------
    name : str
    takes : frozenset of str
        The fields of :class:`GradebookRequest` that it supports besides table, roster, titles and columns.
    make : callable
        Makes the file.
    """

    name: str
    takes: frozenset[str]
    make: Callable[[GradebookRequest], GradebookFile]


def gradebook_format(name: str) -> GradebookFormat:
    """Return a format by its name; a :class:`UsageError` if there is none."""
    # Before anything is imported: a misspelt name must not look like a missing module.
    if name not in FORMATS:
        raise UsageError(
            f"there is no gradebook format {clean_line(name, 40)!r}",
            expected=", ".join(FORMATS),
            next_step=suggestion(name, FORMATS),
        )
    chosen = importlib.import_module(f"engine.marks.gradebooks.{FORMATS[name]}").FORMAT
    assert isinstance(chosen, GradebookFormat)
    return chosen


# Field of a request → the option of `grade export` that sets it, for messages.
_OPTIONS = {
    "into": "--into",
    "scale": "--scale",
    "feedback": "--feedback",
    "key": "--key",
    "delimiter": "--delimiter",
    "decimal_comma": "--decimal-comma",
    "marked": "--excel",
    "protect_ids": "--excel",
}
# Words for what a shell makes hard to type.
_DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", ",": ",", ";": ";", "\t": "\t"}


def check_settings(chosen: GradebookFormat, settings: dict[str, Any], out: Path) -> dict[str, Any]:
    """Return the settings of a :class:`GradebookRequest`, the delimiter as a character.

    Parameters
    ----------
    chosen : GradebookFormat
    settings : dict
        Fields of a request by name, as `grade export` takes them.
    out : Path
        The file to write.

    Raises
    ------
    UsageError
        The format doesn't take one of them, two contradict each other, or `out` has another format's suffix.
    """
    delimiter = settings["delimiter"]
    if delimiter and delimiter not in _DELIMITERS:
        raise UsageError("--delimiter can't be used", expected=", ; or tab", got=repr(delimiter))
    for field_name, option in _OPTIONS.items():
        if settings[field_name] and field_name not in chosen.takes:
            raise UsageError(f"{option} isn't for {chosen.name}", next_step="grade export --help")
    into = settings["into"]
    if settings["scale"] and into is None:
        raise UsageError("--scale needs a file that says the full points", expected="--into FILE")
    if settings["key"] and into is not None:
        raise UsageError("--key is for a new file: the one of --into names people by itself")
    if into is not None and out.exists() and into.exists() and out.samefile(into):
        raise UsageError("--out is the file of --into", next_step="write another file, and keep this one")
    is_workbook = out.suffix.lower() in {".xlsx", ".xlsm", ".xls"}
    if is_workbook is not (chosen.name == "excel") and out.suffix:
        raise UsageError(
            f"--out isn't a file name for {chosen.name}",
            expected="a name ending in .xlsx" if chosen.name == "excel" else "a name ending in .csv",
            got=str(out),
        )
    return {**settings, "delimiter": _DELIMITERS.get(delimiter or "")}
