"""The class on one page: table, difficulty of items, known mistakes, what needs a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine import __version__
from engine.course import Cell, ClassTable, Column, IntakeProblem, Mark
from engine.model import Outcome
from engine.report.pages import render

__all__ = ["Change", "Difficulty", "Mistake", "changes", "difficulty", "mistakes", "summary_page"]


@dataclass(frozen=True, slots=True)
class Difficulty:
    """How one item went; ``mean`` is in percent of full marks, over graded work."""

    column: Column
    graded: int
    right: int
    partial: int
    wrong: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class Mistake:
    """A known mistake, how many students showed it, and where."""

    id: str
    sentence: str
    students: int
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Waiting:
    student: str
    column: str
    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """A mark that the course's rules or a person changed."""

    student: str
    column: Column
    cell: Cell
    mark: Mark


def changes(table: ClassTable) -> list[Change]:
    """Return the marks about which there is something to say, by student."""
    return [
        Change(row.student, column, cell, cell.mark)
        for row in table.rows
        for column in table.columns
        if (cell := row.cells.get(column.id)) is not None and cell.mark is not None and cell.mark.reasons
    ]


def difficulty(table: ClassTable) -> list[Difficulty]:
    """Return each item's figures, the hardest first."""
    found = []
    for column in table.columns:
        cells = [row.cells[column.id] for row in table.rows if column.id in row.cells]
        scores = [cell.score for cell in cells if cell.score is not None]
        mean = 100 * sum(scores) / (len(scores) * column.max_score) if scores and column.max_score else None
        count = {outcome: sum(cell.outcome is outcome for cell in cells) for outcome in Outcome}
        found.append(
            Difficulty(
                column,
                len(scores),
                count[Outcome.RIGHT],
                count[Outcome.PARTIAL],
                count[Outcome.WRONG],
                mean,
            )
        )
    return sorted(found, key=lambda item: (item.mean is None, item.mean or 0.0))


def mistakes(table: ClassTable, sentence_of: Callable[[str, str], str]) -> list[Mistake]:
    """Return the known mistakes that came up, the most frequent first, each with its sentence."""
    items = {column.id: column.item for column in table.columns}
    students: dict[str, set[str]] = {}
    columns: dict[str, set[str]] = {}
    for row in table.rows:
        for column, cell in row.cells.items():
            for mistake in cell.misconceptions:
                students.setdefault(mistake, set()).add(row.student)
                columns.setdefault(mistake, set()).add(column)
    found = [
        Mistake(
            mistake,
            next(filter(None, (sentence_of(items.get(c, c), mistake) for c in sorted(columns[mistake]))), ""),
            len(who),
            tuple(sorted(columns[mistake])),
        )
        for mistake, who in students.items()
    ]
    return sorted(found, key=lambda mistake: (-mistake.students, mistake.id))


def _mean(table: ClassTable) -> float | None:
    """Return the mean share of the points over all graded work, in percent; missing work isn't part of it."""
    full = {column.id: column.max_score for column in table.columns}
    graded = [
        (cell.counted, full[column])
        for row in table.rows
        for column, cell in row.cells.items()
        if cell.counted is not None and not cell.is_left_out
    ]
    most = sum(maximum for _, maximum in graded)
    return 100 * sum(points for points, _ in graded) / most if most else None


def _waiting(table: ClassTable, more: Iterable[tuple[str, str, str]]) -> list[_Waiting]:
    found = [
        _Waiting(row.student, column, cell.reason or "no reason was given")
        for row in table.rows
        for column, cell in row.cells.items()
        if cell.is_waiting
    ]
    # A code file that is ungraded has a cell as well: it is listed once.
    told = {(entry.student, entry.reason) for entry in found}
    return found + [_Waiting(*entry) for entry in more if (entry[0], entry[2]) not in told]


def summary_page(
    table: ClassTable,
    *,
    links: Mapping[str, str],
    problems: Sequence[IntakeProblem] = (),
    ungraded_files: Iterable[tuple[str, str, str]] = (),
    ignored: Sequence[str] = (),
    notes: Sequence[str] = (),
    sentence_of: Callable[[str, str], str] = lambda item, mistake: "",
    downloads: Sequence[str] = ("gradebook.csv", "gradebook.json"),
    practice: bool = False,
) -> str:
    """Return the class's page.

    Parameters
    ----------
    table : ClassTable
    links : mapping of str to str
        Student id → relative address of the student's page.
    problems : sequence of IntakeProblem
    ungraded_files : iterable of (student, file, reason)
        Files without any stored attempt, such as a quiz file that met a fault of ours.
    ignored : sequence of str
    notes : sequence of str
        What the instructor should know of this collection.
    sentence_of : callable
        Item and id of a known mistake → what a student with it is told, "" if nothing is known.
    downloads : sequence of str
        Files beside the page.
    practice : bool
    """
    return render(
        "summary.html.j2",
        table=table,
        links=links,
        maximum=table.maximum,
        handed_in=[row for row in table.rows if row.handed_in],
        strangers=sum(not row.listed for row in table.rows),
        mean=_mean(table),
        changes=changes(table),
        percents=any(row.percent is not None for row in table.rows),
        ungraded=_waiting(table, ungraded_files),
        problems=problems,
        ignored=ignored,
        notes=notes,
        difficulty=difficulty(table),
        mistakes=mistakes(table, sentence_of),
        downloads=downloads,
        practice=practice,
        engine_version=__version__,
    )
