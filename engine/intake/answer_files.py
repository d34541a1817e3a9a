"""A table → rows of answers: CSV and workbooks of every kind that is known here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.course import IntakeProblem
from engine.course.delimited import Delimited, Row, read_delimited
from engine.errors import IntakeError
from engine.foreign import clean_line
from engine.intake.answers.google_forms import google_forms
from engine.intake.answers.layout import Kind, Layout
from engine.intake.answers.microsoft_forms import microsoft_forms
from engine.intake.answers.moodle_responses import moodle_responses
from engine.intake.answers.plain_table import plain_table
from engine.intake.answers.rows import AnswerRow, ClassAnswers
from engine.plurals import counted

__all__ = ["read_table"]

# The plain table is any table that names students, so it comes last.
_KINDS: tuple[Kind, ...] = (moodle_responses, google_forms, microsoft_forms, plain_table)
# A response with one of these states was never handed in.
_UNFINISHED = frozenset({"in progress", "overdue", "never submitted", "abandoned", "not started", "-"})
_SUMMARIES = frozenset({"overall average", "points possible", "manual posting"})
_STEP = "mend this row, then grade again: what is graded is kept"


def read_table(path: Path, name: str) -> ClassAnswers:
    """Read a table of the class's answers.

    Parameters
    ----------
    path : Path
    name : str
        Name as handed in, clean.

    Raises
    ------
    IntakeError
        It is no table, or nothing in it tells who answered.
    """
    if path.suffix.lower() == ".xlsx":
        from engine.intake.answers.workbook import read_workbook

        table = read_workbook(path, name)
    else:
        table = read_delimited(path, noun="the table", error=IntakeError, file=name)
    if not table.rows:
        raise IntakeError(
            "there is no row in it", where=f"{name}:1", next_step="see that it is the right file"
        )
    head, *body = table.rows
    layout = next((found for kind in _KINDS if (found := kind(head.cells)) is not None), None)
    if layout is None:
        raise IntakeError(
            "the first line names no column that tells who answered",
            where=f"{name}:{head.line}",
            expected="a first line such as: id,1,2,3",
            next_step="name the columns: id, login, email or name, then the questions",
        )
    return _Reading(table, layout, len(head.cells)).read(head.line, body)


class _Reading:
    def __init__(self, table: Delimited, layout: Layout, width: int) -> None:
        self._table = table
        self._layout = layout
        self._width = width
        self._rows: list[AnswerRow] = []
        self._ignored: list[str] = []
        self._problems = [
            IntakeProblem(f"{fault.file}:{fault.line}", fault.message, _STEP) for fault in table.faults
        ]

    def read(self, head_line: int, body: list[Row]) -> ClassAnswers:
        for head in self._layout.doubled:
            what = f"two columns are headed {clean_line(head, 60)!r}: which one counts isn't known"
            self._problems.append(
                IntakeProblem(f"{self._table.file}:{head_line}", what, "rename or delete one of them")
            )
        for row in body:
            self._take(row)
        return ClassAnswers(
            self._table.file,
            tuple(self._rows),
            dict.fromkeys(self._layout.questions, head_line),
            tuple(self._problems),
            tuple(self._ignored),
        )

    def _take(self, row: Row) -> None:
        if any(row.cells[self._width :]):
            what = f"{counted(len(row.cells), 'field')}, but the header has {self._width}"
            self._refuse(row, what, "put an answer with commas in quotes")
            return
        who = self._named(row, self._layout.who)
        state = self._cell(row, self._layout.state)
        if any(cell.casefold() in _SUMMARIES for cell in row.cells) and not who.get("id"):
            self._ignored.append(f"{self._table.file}:{row.line}: {clean_line(row.cells[0], 60)}")
        elif state.casefold() in _UNFINISHED:
            self._refuse(row, f"this attempt wasn't handed in: its state is {clean_line(state, 40)!r}")
        else:
            self._rows.append(
                AnswerRow(
                    row.line,
                    {field: text for field, text in who.items() if text},
                    self._named(row, self._layout.questions),
                    quiz=self._cell(row, self._layout.quiz),
                    handed=self._cell(row, self._layout.handed),
                )
            )

    def _named(self, row: Row, places: Mapping[str, int]) -> dict[str, str]:
        return {name: self._cell(row, place) for name, place in places.items()}

    def _cell(self, row: Row, place: int | None) -> str:
        cell = row.cells[place] if place is not None and place < len(row.cells) else ""
        return "" if cell in self._layout.no_answer else cell

    def _refuse(self, row: Row, message: str, step: str = "") -> None:
        self._problems.append(IntakeProblem(f"{self._table.file}:{row.line}", message, step))
