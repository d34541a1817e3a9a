"""A table of answers in words, for markers who work in a spreadsheet: written, filled in, read back.

A row is an answer, a column a criterion. Students' names aren't in it: an answer has an id, by which its row
is found again whatever became of the order. A row whose criteria are empty is an answer that still waits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.answers.free_text import RubricCriterion, checked_points
from engine.errors import CourseError, Diagnostic, UsageError
from engine.marks.rubric_marking import AnswerToMark, RubricMarking
from engine.store.marker_comments import checked_comment
from engine.text.tables import TableRow, csv_text, number_cell, read_delimited, text_cell
from engine.text.words import did_you_mean, plain_points

_FIRST = ("id", "student", "question", "text", "words")
_COMMENT = "comment"
_NUMBER = re.compile(r"[0-9]{1,4}(?:[.,][0-9]{1,6})?")


@dataclass(frozen=True)
class MarkedRow:
    """One answer with what a marker wrote into its row.

    Parameters
    ----------
    answer : AnswerToMark
    points : mapping of str to float
        By criterion, in the rubric's own units.
    comments : mapping of str to str
        Remarks by criterion.
    comment : str
    """

    answer: AnswerToMark
    points: Mapping[str, float]
    comments: Mapping[str, str]
    comment: str

    @property
    def changes(self) -> bool:
        """Whether it says something else than what is stored."""
        marks = self.answer.marks
        if marks is None:
            return True
        stored = (dict(marks.points), dict(marks.comments), marks.comment)
        return stored != (dict(self.points), dict(self.comments), self.comment)


def marking_table(answers: Sequence[AnswerToMark]) -> str:
    """Return the answers to one field as CSV, with a column for the points and the remark of each criterion.

    The second row says what earns full points, and which points can be given: it is left alone when the table
    is read back.
    """
    rubric = answers[0].rubric if answers else ()
    head = [*_FIRST]
    notes = ["", "", "", "what earns full points:", ""]
    for criterion in rubric:
        head += [criterion.id, f"{criterion.id} {_COMMENT}"]
        notes += [text_cell(f"{criterion.text.plain} [{criterion.offer}]"), ""]
    rows: list[list[object]] = [[*head, _COMMENT], [*notes, ""]]
    for answer in answers:
        marks = answer.marks
        row: list[object] = [
            answer.id,
            answer.pseudonym,
            text_cell(answer.field.id),
            text_cell(answer.text),
            "" if answer.words is None else answer.words,
        ]
        for criterion in rubric:
            points = None if marks is None else marks.points.get(criterion.id)
            row.append("" if points is None else number_cell(points))
            row.append("" if marks is None else text_cell(marks.comments.get(criterion.id, "")))
        rows.append([*row, "" if marks is None else text_cell(marks.comment)])
    return csv_text(rows, quote_texts=True)


def read_marking(path: Path, marking: RubricMarking) -> tuple[list[MarkedRow], int, list[Diagnostic]]:
    """Read a table that was filled in.

    Parameters
    ----------
    path : Path
    marking : RubricMarking
        Of the course, to find the answers by their ids.

    Returns
    -------
    (list of MarkedRow, int, list of Diagnostic)
        What is to be stored, how many rows say what is stored already, and the faults by line. Rows without
        points are none of them: they wait.

    Raises
    ------
    CourseError
        The file can't be read, or its first line isn't that of such a table.
    """
    table = read_delimited(path, noun="the table of answers", error=CourseError)
    if not table.rows:
        raise CourseError(
            "the table of answers is empty", where=f"{path}:1", expected="id, criteria, comment"
        )
    head, *rows = table.rows
    heads = [cell.casefold() for cell in head.cells]
    if "id" not in heads:
        message = (
            "the first line must name the columns, `id` among them, as grade mark export-answers wrote it"
        )
        raise CourseError.of_file([_fault(table.file, head, message)])
    by_id = {answer.id: answer for progress in marking.fields() for answer in marking.answers(progress.field)}
    faults, marked_rows, same = list(table.faults), [], 0
    lines: dict[str, int] = {}
    for row in rows:
        cells = dict(zip(heads, row.cells, strict=False))
        answer_id = cells.get("id", "")
        if not answer_id:  # the row of the rubric, or one that somebody uses for notes
            continue
        try:
            marked = _row(by_id, cells, heads)
            if answer_id in lines:
                raise UsageError(f"answer {answer_id} is in line {lines[answer_id]} already")
        except UsageError as error:
            message = "; ".join(filter(None, (error.where, error.what, error.expected)))
            faults.append(_fault(table.file, row, message))
            continue
        lines[answer_id] = row.line
        if marked is None:
            continue
        if marked.changes:
            marked_rows.append(marked)
        else:
            same += 1
    return marked_rows, same, sorted(faults, key=lambda fault: fault.line)


def _row(
    by_id: Mapping[str, AnswerToMark], cells: Mapping[str, str], heads: Sequence[str]
) -> MarkedRow | None:
    """Return what a row says; None where it has no points yet."""
    answer = by_id.get(cells["id"])
    if answer is None:
        near = did_you_mean(cells["id"], by_id)
        raise UsageError(f"there is no answer {cells['id'][:40]!r} that people mark{near}")
    ids = [criterion.id for criterion in answer.rubric]
    known = {*_FIRST, _COMMENT, *ids, *(f"{name} {_COMMENT}" for name in ids)}
    if strange := [name for name in heads if name and name not in known and cells.get(name)]:
        near = did_you_mean(strange[0], ids)
        raise UsageError(f"the rubric has no criterion {strange[0][:40]!r}{near}")
    points = dict(_points(cells, answer.rubric))
    comments = {name: checked_comment(cells.get(f"{name} {_COMMENT}", "")) for name in ids}
    comment = checked_comment(cells.get(_COMMENT, ""))
    if not points:
        if any(comments.values()) or comment:
            raise UsageError("there is a comment and no points", expected="points for every criterion")
        return None
    return MarkedRow(
        answer,
        checked_points(answer.part, points),
        {name: text for name, text in comments.items() if text},
        comment,
    )


def _points(cells: Mapping[str, str], rubric: Sequence[RubricCriterion]) -> Iterator[tuple[str, float]]:
    for criterion in rubric:
        cell = cells.get(criterion.id, "").strip()
        if not cell:
            continue
        number = float(cell.replace(",", ".")) if _NUMBER.fullmatch(cell) else math.nan
        if math.isnan(number):
            where = f"criterion {criterion.id}"
            raise UsageError(f"{cell[:40]!r} isn't points", where=where, expected=criterion.offer)
        yield criterion.id, number


def _fault(file: str, row: TableRow, message: str) -> Diagnostic:
    return Diagnostic(file, row.line, 1, message, row.source)


def total_text(answer: AnswerToMark) -> str:
    """Return what an answer has of its rubric's points: ``2.5 of 3``, or ``waits``."""
    if answer.score is None:
        return "waits"
    return f"{plain_points(answer.score)} of {plain_points(answer.maximum)}"
