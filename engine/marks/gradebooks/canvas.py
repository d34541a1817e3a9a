"""Canvas: fill the CSV that its gradebook exports, or write a new one.

The first row names the columns, a row ``Points Possible`` follows (a row about manual posting may stand
before it), then a row per student. Columns that Canvas calculates are marked ``(read only)``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from engine.course.students import person_columns, plain_head
from engine.errors import UsageError
from engine.marks.gradebooks.cells import CellSigns, NewRows
from engine.marks.gradebooks.columns import TargetColumn, wanted_targets, where_headed
from engine.marks.gradebooks.fill import (
    LmsSheet,
    SheetRow,
    TargetPlace,
    everybody,
    fill_targets,
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
from engine.text.tables import csv_bytes, number_cell, text_cell
from engine.text.words import clean_line, near_words

_POSSIBLE = "points possible"
# EX is what Canvas itself writes for an excused student.
_SIGNS = CellSigns("EX", locked={"N/A": "Canvas has this assignment for other students only"})
# Canvas takes a heading with one of these for a total of its own, and reads no marks from it.
_TOTALS = tuple(
    f"{kind} {value}"
    for kind in ("current", "final", "override")
    for value in ("score", "points", "grade", "status")
)
# The rule has changed from version to version of Canvas, so headings that resemble one get a notice.
_NEAR_TOTAL = re.compile(r"\b(current|final|override)\b")
_ABOUT = {
    "student", "lastname", "firstname", "id", "sis user id", "sis login id", "integration id",
    "root account", "section",
}  # fmt: skip
_NEAR_TEXT = (
    "Canvas may take a heading with “current”, “final” or “override” for a total of its own and ignore the "
    "column: check that its marks are in the preview, or rename the assignment"
)
_NUMBERED = re.compile(r"\([0-9]+\)$")
# Every Canvas course has one, under these names.
_TEST_STUDENT = {"student, test", "test student"}


def _canvas_gradebook(request: GradebookRequest) -> GradebookFile:
    """Return a file that Canvas imports: the one of ``into`` with our marks in it, or a new one."""
    targets = wanted_targets(request)
    for target in targets:
        if any(total in plain_head(target.heading) for total in _TOTALS):
            raise UsageError(
                f"Canvas reads no marks under {clean_line(target.heading, 80)!r}",
                expected="a heading that isn't one of Canvas's own totals",
            )
    file = (
        _new_gradebook(request, targets)
        if request.into is None
        else _filled_gradebook(request, request.into, targets)
    )
    near = [
        GradebookNotice(NoticeKind.NOTE, head, _NEAR_TEXT)
        for head in file.headings
        if _NEAR_TOTAL.search(plain_head(head))
    ]
    return replace(file, notices=(*near, *file.notices))


def _filled_gradebook(request: GradebookRequest, path: Path, targets: list[TargetColumn]) -> GradebookFile:
    sheet = read_sheet(path)
    possible = _possible_row(sheet)
    about = _about(sheet)
    open_columns = _open_columns(sheet, possible)
    assignments = [sheet.header[number] for number in open_columns]

    def place_target(
        target: TargetColumn, column: int, is_new: bool
    ) -> tuple[TargetPlace, list[GradebookNotice]]:
        heading = sheet.header[column]
        notices = []
        if is_new:
            # Without the number of an assignment Canvas makes a new one on import.
            possible.raw[column] = number_cell(target.maximum, decimal_comma=sheet.decimal_comma)
            message = "Canvas makes a new assignment of this column"
            if near := near_words(target.heading, assignments):
                message += f'; did you mean --column "{near[0]}={target.ids}"?'
            notices.append(GradebookNotice(NoticeKind.NOTE, heading, message))
        place, about_points = place_of(target, column, heading, possible.raw[column], scale=request.scale)
        return place, notices + about_points

    headed = where_headed(targets, sheet.header, open_columns, request)
    # Canvas exports a test student and rows about posting among the people.
    people = [row for row in sheet.rows if row is not possible and _is_person(row, about)]
    return fill_targets(sheet, headed, place_target, people, about, request, _SIGNS)


def _possible_row(sheet: LmsSheet) -> SheetRow:
    heads = [plain_head(head) for head in sheet.header]
    # A row about manual posting may come before it.
    row = next((row for row in sheet.rows[:2] if plain_head(row.cells[0]) == _POSSIBLE), None)
    if row is None or "id" not in heads or heads[0] not in {"student", "lastname"}:
        raise UsageError(
            "this isn't a Canvas gradebook",
            where=sheet.file,
            expected="columns Student and ID, and a row “Points Possible”",
            next_step="export it in Canvas: Grades, Export, Export Entire Gradebook",
        )
    return row


def _open_columns(sheet: LmsSheet, possible: SheetRow) -> list[int]:
    """Return the columns of assignments; a custom column has no points possible, a total is read only."""
    return [
        place
        for place, head in enumerate(sheet.header)
        if plain_head(head) not in _ABOUT
        and (possible.cells[place] or _NUMBERED.search(head))
        and not possible.cells[place].startswith("(")
        and not any(total in plain_head(head) for total in _TOTALS)
    ]


def _is_person(row: SheetRow, about: Mapping[str, int]) -> bool:
    """Return whether a row is about a student; the one about manual posting names nobody."""
    return any(row.cells[place] for place in about.values()) and row.cells[0].casefold() not in _TEST_STUDENT


def _about(sheet: LmsSheet) -> dict[str, int]:
    columns = person_columns(sheet.header)
    number = next(place for place, head in enumerate(sheet.header) if plain_head(head) == "id")
    if columns.get("id") == number:  # Canvas's own number is nobody's id, even where there is no other
        del columns["id"]
    return columns | {"lms_id": number}


def _new_gradebook(request: GradebookRequest, targets: list[TargetColumn]) -> GradebookFile:
    people = everybody(request.table, request.roster).by_id
    new = NewRows(targets, _SIGNS, request)
    rows = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *new.head()],
        # Four blanks before it, as Canvas exports it.
        ["    Points Possible", "", "", "", "", *(number_cell(target.maximum) for target in targets)],
    ]
    for row in request.table.rows:
        student = people[row.student]
        about = (student.name or student.id, student.lms_id, student.id, student.login, student.section)
        rows.append([*map(text_cell, about), *new.cells(row)])
        if not row.in_roster:
            message = "isn't in the roster: check whether Canvas knows this person"
            new.notices.append(GradebookNotice(NoticeKind.UNKNOWN, row.student, message))
    return GradebookFile(csv_bytes(rows), new.headings, new.marks, tuple(new.notices))


FORMAT = GradebookFormat("canvas", frozenset({"into", "scale"}), _canvas_gradebook)
