"""Moodle: CSV for its grade import, or its own gradebook's export or grading worksheet with marks in it.

Its import takes ``-`` for no grade, and refuses a whole file because of one person whom it doesn't know.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from engine.course import Student
from engine.course.person_columns import person_columns, plain_head
from engine.errors import UsageError
from engine.gradebooks.cells import csv_bytes, text_cell
from engine.gradebooks.filling import Place, fill_sheet
from engine.gradebooks.formats import GradebookFormat
from engine.gradebooks.gradebook import Gradebook, Kind, Listed, Request
from engine.gradebooks.headings import wanted_targets, where_headed
from engine.gradebooks.people import everybody, join_rows
from engine.gradebooks.rows import NewRows
from engine.gradebooks.sheet import Sheet, read_sheet
from engine.gradebooks.signs import Signs
from engine.gradebooks.targets import Target, plain_heading
from engine.gradebooks.worksheet import is_worksheet, worksheet_gradebook

__all__ = ["FORMAT", "moodle_gradebook"]

_SIGNS = Signs(None, missing="-", ungraded="-", unreadable="-")
_KEYS: dict[str, tuple[str, Callable[[Student], str]]] = {
    "email": ("Email address", lambda student: student.email),
    "idnumber": ("ID number", lambda student: student.id),
    "username": ("Username", lambda student: student.login),
}
# In an export the heading of HW 1 reads "Assignment: HW 1 (Real)".
_KIND = re.compile(r"^[^:]{1,40}:\s+")
_SHOWN = re.compile(r"(?<!\s)\s++\((real|percentage|letter|feedback)\)$", re.IGNORECASE)
_ABOUT = {"institution", "department", "last downloaded from this course"}


def moodle_gradebook(request: Request) -> Gradebook:
    """Return a file that Moodle imports: the one of ``into`` with our marks in it, or a new one.

    Raises
    ------
    UsageError
        ``into`` is no file of Moodle's, or the columns asked for don't fit it.
    """
    if request.into is None:
        return _new(request, wanted_targets(request))
    sheet = read_sheet(request.into)
    if is_worksheet(sheet):
        return worksheet_gradebook(sheet, request)
    if request.scale:
        raise UsageError("only a grading worksheet says its full points", next_step="leave --scale out")
    return _filled(sheet, request)


def _filled(sheet: Sheet, request: Request) -> Gradebook:
    about = person_columns(sheet.header)
    if not about.keys() & {"id", "email", "login"}:
        raise UsageError(
            "this is no gradebook of Moodle",
            where=sheet.file,
            expected="a column Email address, ID number or Username",
            next_step="export it in Moodle: Grades, Export, Plain text file",
        )
    open_columns = [
        place
        for place, head in enumerate(sheet.header)
        if place not in about.values() and plain_head(head) not in _ABOUT and _kind(head) in ("", "real")
    ]
    listed: list[Listed] = []
    places = []
    for target, column in where_headed(wanted_targets(request), sheet.header, open_columns, request, _plain):
        if column is None:
            column = sheet.add_column(text_cell(target.heading))
            told = "new column: choose “New grade item” for it when you import the file"
            listed.append(Listed(Kind.NOTE, sheet.header[column], told))
        comments = _comments(sheet, column) if request.feedback else None
        places.append(Place(target, column, comments=comments))
    joined = join_rows(sheet, sheet.rows, about, request.table, request.roster)
    return fill_sheet(sheet, replace(joined, listed=[*listed, *joined.listed]), places, _SIGNS)


def _plain(heading: str) -> str:
    return plain_heading(_KIND.sub("", _SHOWN.sub("", heading.strip())))


def _kind(heading: str) -> str:
    found = _SHOWN.search(heading)
    return found[1].lower() if found else ""


def _comments(sheet: Sheet, column: int) -> int:
    """Return the column of the comments on a grade; a new one where there is none."""
    plain = _plain(sheet.header[column])
    for place, head in enumerate(sheet.header):
        if _kind(head) == "feedback" and _plain(head) == plain:
            return place
    return sheet.add_column(_SHOWN.sub("", sheet.header[column]) + " (Feedback)")


def _new(request: Request, targets: list[Target]) -> Gradebook:
    people = everybody(request.table, request.roster).by_id
    mine = [(row, people[row.student]) for row in request.table.rows]
    key = request.key or ("email" if all(s.email for row, s in mine if row.listed) else "idnumber")
    head, key_of = _KEYS[key]
    new = NewRows(targets, _SIGNS, request)
    rows = [[head, "Full name", *new.head()]]
    for row, student in mine:
        if row.listed and key_of(student):
            rows.append([text_cell(key_of(student)), text_cell(student.name), *new.cells(row)])
        elif row.cells:
            why = f"has no {head} in the roster" if row.listed else "isn't in the roster"
            told = f"{why}: left out, for Moodle refuses a file with people whom it doesn't know"
            new.listed.append(Listed(Kind.ABSENT, row.student, told))
    return Gradebook(csv_bytes(rows), new.headings, new.marks, tuple(new.listed))


FORMAT = GradebookFormat("moodle", frozenset({"into", "feedback", "key", "scale"}), moodle_gradebook)
