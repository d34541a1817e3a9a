"""Moodle's offline grading worksheet: one assignment, a row per participant.

Moodle takes a row by its identifier, skips a blank grade, and refuses one above the maximum.
"""

from __future__ import annotations

from dataclasses import replace

from engine.course.person_columns import person_columns, plain_head
from engine.errors import UsageError
from engine.foreign import clean_line
from engine.gradebooks.filling import fill_sheet, place_of
from engine.gradebooks.gradebook import Gradebook, Kind, Listed, Request
from engine.gradebooks.headings import wanted_targets
from engine.gradebooks.people import join_rows
from engine.gradebooks.sheet import Sheet
from engine.gradebooks.signs import Signs

__all__ = ["is_worksheet", "worksheet_gradebook"]

_SIGNS = Signs(None)


def is_worksheet(sheet: Sheet) -> bool:
    """Tell whether a file is a worksheet."""
    return {"identifier", "grade", "maximum grade"} <= {plain_head(head) for head in sheet.header}


def worksheet_gradebook(sheet: Sheet, request: Request) -> Gradebook:
    """Return the worksheet with our marks, and with comments where they are asked for.

    Raises
    ------
    UsageError
        It isn't clear which assignment it is about, or it has no column for comments.
    """
    heads = [plain_head(head) for head in sheet.header]
    targets = wanted_targets(request)
    if len(targets) != 1 or (request.columns and plain_head(targets[0].heading) != "grade"):
        known = ", ".join(dict.fromkeys(column.assignment for column in request.table.columns))
        raise UsageError(
            "a worksheet is about one assignment",
            where=sheet.file,
            expected=f'--column "Grade=ID" with one of: {clean_line(known, 500)}',
        )
    column = heads.index("grade")
    possible = {row.cells[heads.index("maximum grade")] for row in sheet.rows}
    place, listed = place_of(
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
    if about.get("id") == heads.index("identifier"):  # a number of the hand-in, not of a person
        del about["id"]
    joined = join_rows(sheet, sheet.rows, about, request.table, request.roster)
    fixed = heads.index("grade can be changed") if "grade can be changed" in heads else None
    rows = []
    for row, ours in joined.rows:
        if fixed is not None and row.cells[fixed].casefold() == "no":
            told = "Grade: Moodle says that it can't be changed; our mark isn't written"
            listed.append(Listed(Kind.LEFT, ours.student, told))
        else:
            rows.append((row, ours))
    return fill_sheet(sheet, replace(joined, rows=rows, listed=[*listed, *joined.listed]), [place], _SIGNS)
