"""Moodle: CSV for its grade import, or its own gradebook's export or grading worksheet with marks in it.

The grade import takes ``-`` for no grade, and refuses a whole file for one person whom it doesn't know.
The offline worksheet is about one assignment and has a row per participant: Moodle finds a row by its
identifier, skips a blank grade, and refuses one above the maximum.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from engine.course import Student
from engine.course.students import person_columns, plain_head
from engine.errors import UsageError
from engine.marks.gradebooks.cells import CellSigns, NewRows
from engine.marks.gradebooks.columns import TargetColumn, plain_heading, wanted_targets, where_headed
from engine.marks.gradebooks.fill import (
    LmsSheet,
    TargetPlace,
    everybody,
    fill_sheet,
    fill_targets,
    join_rows,
    place_of,
    read_sheet,
)
from engine.marks.gradebooks.formats import (
    GradebookFile,
    GradebookFormat,
    GradebookNotice,
    GradebookRequest,
    NoticeKind,
)
from engine.text.tables import csv_bytes, text_cell
from engine.text.words import clean_line

# Moodle has no sign for excused, and a blank grade changes nothing there.
_WORKSHEET_SIGNS = CellSigns(None)


def _is_worksheet(sheet: LmsSheet) -> bool:
    return {"identifier", "grade", "maximum grade"} <= {plain_head(head) for head in sheet.header}


def _worksheet_gradebook(sheet: LmsSheet, request: GradebookRequest) -> GradebookFile:
    """Return the worksheet with our marks, and with comments where they are asked for."""
    heads = [plain_head(head) for head in sheet.header]
    targets = wanted_targets(request)
    # The worksheet itself doesn't say which assignment it is of.
    if len(targets) != 1 or (request.columns and plain_head(targets[0].heading) != "grade"):
        known = ", ".join(dict.fromkeys(column.assignment for column in request.table.columns))
        raise UsageError(
            "a worksheet is about one assignment",
            where=sheet.file,
            expected=f'--column "Grade=ID" with one of: {clean_line(known, 500)}',
        )
    column = heads.index("grade")
    # Every row repeats the maximum; where they differ there is no one scale.
    possible = {row.cells[heads.index("maximum grade")] for row in sheet.rows}
    place, notices = place_of(
        targets[0], column, "Grade", possible.pop() if len(possible) == 1 else "", scale=request.scale
    )
    if request.feedback:
        if "feedback comments" not in heads:
            raise UsageError(
                "the worksheet has no column for comments",
                where=sheet.file,
                next_step="switch on feedback comments in the assignment's settings in Moodle",
            )
        place = replace(place, comments=heads.index("feedback comments"))
    about = person_columns(sheet.header)
    if about.get("id") == heads.index("identifier"):  # it identifies the hand-in, not the person
        del about["id"]
    joined = join_rows(sheet, sheet.rows, about, request.table, request.roster)
    fixed = heads.index("grade can be changed") if "grade can be changed" in heads else None
    rows = []
    for row, ours in joined.rows:
        if fixed is not None and row.cells[fixed].casefold() == "no":
            message = "Grade: Moodle says that it can't be changed; our mark isn't written"
            notices.append(GradebookNotice(NoticeKind.UNTOUCHED, ours.student, message))
        else:
            rows.append((row, ours))
    return fill_sheet(sheet, replace(joined, rows=rows), [place], _WORKSHEET_SIGNS, notices)


_SIGNS = CellSigns(None, missing="-", ungraded="-", unreadable="-")
_KEYS: dict[str, tuple[str, Callable[[Student], str]]] = {
    "email": ("Email address", lambda student: student.email),
    "idnumber": ("ID number", lambda student: student.id),
    "username": ("Username", lambda student: student.login),
}
# In an export the heading of HW 1 reads "Assignment: HW 1 (Real)".
_KIND_PREFIX = re.compile(r"^[^:]{1,40}:\s+")
_KIND_SUFFIX = re.compile(r"(?<!\s)\s++\((real|percentage|letter|feedback)\)$", re.IGNORECASE)
_ABOUT = {"institution", "department", "last downloaded from this course"}


def _moodle_gradebook(request: GradebookRequest) -> GradebookFile:
    """Return a file that Moodle imports: the one of ``into`` with our marks in it, or a new one."""
    if request.into is None:
        return _new_gradebook(request, wanted_targets(request))
    sheet = read_sheet(request.into)
    if _is_worksheet(sheet):
        return _worksheet_gradebook(sheet, request)
    if request.scale:
        # A gradebook has the full points nowhere, so there is nothing to scale to.
        raise UsageError("only a grading worksheet says its full points", next_step="leave --scale out")
    return _filled_gradebook(sheet, request)


def _filled_gradebook(sheet: LmsSheet, request: GradebookRequest) -> GradebookFile:
    about = person_columns(sheet.header)
    if not about.keys() & {"id", "email", "login"}:
        raise UsageError(
            "this isn't a Moodle gradebook",
            where=sheet.file,
            expected="a column Email address, ID number or Username",
            next_step="export it in Moodle: Grades, Export, Plain text file",
        )
    open_columns = [
        place
        for place, head in enumerate(sheet.header)
        if place not in about.values() and plain_head(head) not in _ABOUT and _kind(head) in ("", "real")
    ]

    def place_target(
        target: TargetColumn, column: int, is_new: bool
    ) -> tuple[TargetPlace, list[GradebookNotice]]:
        message = "new column: choose “New grade item” for it when you import the file"
        notices = [GradebookNotice(NoticeKind.NOTE, sheet.header[column], message)] if is_new else []
        comments = _comments(sheet, column) if request.feedback else None
        return TargetPlace(target, column, comments=comments), notices

    headed = where_headed(wanted_targets(request), sheet.header, open_columns, request, _plain)
    return fill_targets(sheet, headed, place_target, sheet.rows, about, request, _SIGNS)


def _plain(heading: str) -> str:
    return plain_heading(_KIND_PREFIX.sub("", _KIND_SUFFIX.sub("", heading.strip())))


def _kind(heading: str) -> str:
    suffix = _KIND_SUFFIX.search(heading)
    return suffix[1].lower() if suffix else ""


def _comments(sheet: LmsSheet, column: int) -> int:
    """Return the column of the comments on a grade, added where there is none."""
    plain = _plain(sheet.header[column])
    for place, head in enumerate(sheet.header):
        if _kind(head) == "feedback" and _plain(head) == plain:
            return place
    return sheet.add_column(_KIND_SUFFIX.sub("", sheet.header[column]) + " (Feedback)")


def _new_gradebook(request: GradebookRequest, targets: list[TargetColumn]) -> GradebookFile:
    people = everybody(request.table, request.roster).by_id
    mine = [(row, people[row.student]) for row in request.table.rows]
    # An address identifies people in every Moodle; id numbers are optional there.
    key = request.key or ("email" if all(s.email for row, s in mine if row.in_roster) else "idnumber")
    head, key_of = _KEYS[key]
    new = NewRows(targets, _SIGNS, request)
    rows = [[head, "Full name", *new.head()]]
    for row, student in mine:
        if row.in_roster and key_of(student):
            rows.append([text_cell(key_of(student)), text_cell(student.name), *new.cells(row)])
        elif row.cells:
            why = f"has no {head} in the roster" if row.in_roster else "isn't in the roster"
            message = f"{why}: left out, because Moodle refuses a file with people whom it doesn't know"
            new.notices.append(GradebookNotice(NoticeKind.ABSENT, row.student, message))
    return GradebookFile(csv_bytes(rows), new.headings, new.marks, tuple(new.notices))


FORMAT = GradebookFormat("moodle", frozenset({"into", "feedback", "key", "scale"}), _moodle_gradebook)
