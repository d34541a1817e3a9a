"""The class on one page, and writing all pages and tables of a class.

The page has the table of marks, the difficulty of items, known mistakes, and what needs a person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import __version__
from engine.crash_points import reached
from engine.hand_ins import IntakeProblem
from engine.marks.class_table import (
    ClassTable,
    ColumnMark,
    StudentResults,
    TableCell,
    TableColumn,
    class_table,
    mean_percent,
)
from engine.marks.gradebooks.plain_csv import gradebook_csv, gradebook_json
from engine.model import Outcome
from engine.pages.feedback import write_page
from engine.pages.render import render, report_errors, write_pages


@dataclass(frozen=True, slots=True)
class ItemDifficulty:
    """How one item went; ``mean`` is in percent of full marks, over graded work."""

    column: TableColumn
    graded: int
    right: int
    partial: int
    wrong: int
    mean: float | None


@dataclass(frozen=True, slots=True)
class MistakeCount:
    """A known mistake, how many students showed it, and where."""

    id: str
    sentence: str
    students: int
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _UngradedWork:
    student: str
    column: str
    reason: str


@dataclass(frozen=True, slots=True)
class MarkChange:
    """A mark that the course's rules or a person changed."""

    student: str
    column: TableColumn
    cell: TableCell
    mark: ColumnMark


def changes(table: ClassTable) -> list[MarkChange]:
    """Return the marks that come with reasons, by student."""
    return [
        MarkChange(row.student, column, cell, cell.mark)
        for row in table.rows
        for column in table.columns
        if (cell := row.cells.get(column.id)) is not None and cell.mark is not None and cell.mark.reasons
    ]


def difficulty(table: ClassTable) -> list[ItemDifficulty]:
    """Return each item's figures, the hardest first."""
    items = []
    for column in table.columns:
        cells = [row.cells[column.id] for row in table.rows if column.id in row.cells]
        scores = [cell.score for cell in cells if cell.score is not None]
        mean = 100 * sum(scores) / (len(scores) * column.max_score) if scores and column.max_score else None
        count = {outcome: sum(cell.outcome is outcome for cell in cells) for outcome in Outcome}
        right, partial, wrong = (count[kind] for kind in (Outcome.RIGHT, Outcome.PARTIAL, Outcome.WRONG))
        items.append(ItemDifficulty(column, len(scores), right, partial, wrong, mean))
    # The hardest first; what nobody's work was graded for comes last.
    return sorted(items, key=lambda item: (item.mean is None, item.mean or 0.0))


def mistakes(table: ClassTable, sentence_of: Callable[[str, str], str]) -> list[MistakeCount]:
    """Return the known mistakes that came up, the most frequent first, each with its sentence."""
    items = {column.id: column.item for column in table.columns}
    students: dict[str, set[str]] = {}
    columns: dict[str, set[str]] = {}
    for row in table.rows:
        for column, cell in row.cells.items():
            for mistake in cell.misconceptions:
                students.setdefault(mistake, set()).add(row.student)
                columns.setdefault(mistake, set()).add(column)
    counts = []
    for mistake, holders in students.items():
        places = sorted(columns[mistake])
        # Items may word a mistake differently; the first that has words for it stands for all.
        sentences = (sentence_of(items.get(column, column), mistake) for column in places)
        sentence = next(filter(None, sentences), "")
        counts.append(MistakeCount(mistake, sentence, len(holders), tuple(places)))
    return sorted(counts, key=lambda mistake: (-mistake.students, mistake.id))


def _ungraded(table: ClassTable, files: Iterable[tuple[str, str, str]]) -> list[_UngradedWork]:
    ungraded = [
        _UngradedWork(row.student, column, cell.reason or "no reason was given")
        for row in table.rows
        for column, cell in row.cells.items()
        if cell.is_waiting and not cell.needs_person
    ]
    # A code file that is ungraded has a cell as well: it is listed once.
    known = {(entry.student, entry.reason) for entry in ungraded}
    return ungraded + [_UngradedWork(*file) for file in files if (file[0], file[2]) not in known]


def _to_mark(table: ClassTable) -> list[tuple[TableColumn, int]]:
    """Return how many answers a person must mark, by column."""
    counts = Counter(
        name
        for row in table.rows
        for name, cell in row.cells.items()
        if cell.needs_person and cell.is_waiting
    )
    return [(column, counts[column.id]) for column in table.columns if counts[column.id]]


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
        What the instructor should know of this batch.
    sentence_of : callable
        Item and id of a known mistake → what a student with it reads, "" if nothing is known.
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
        strangers=sum(not row.in_roster for row in table.rows),
        mean=mean_percent(table.rows, table.columns),
        changes=changes(table),
        percents=any(row.percent is not None for row in table.rows),
        ungraded=_ungraded(table, ungraded_files),
        to_mark=_to_mark(table),
        problems=problems,
        ignored=ignored,
        notes=notes,
        difficulty=difficulty(table),
        mistakes=mistakes(table, sentence_of),
        downloads=downloads,
        practice=practice,
        engine_version=__version__,
    )


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The files of a class's report, and the table that they show."""

    index: Path
    gradebook: Path
    students: Mapping[str, Path]
    table: ClassTable


def write_reports(
    out: Path,
    students: Iterable[StudentResults],
    *,
    title: str,
    problems: Sequence[IntakeProblem] = (),
    ungraded_files: Iterable[tuple[str, str, str]] = (),
    ignored: Sequence[str] = (),
    notes: Callable[[], Sequence[str]] = tuple,
    sentence_of: Callable[[str, str], str] = lambda item, mistake: "",
    solutions: bool = False,
    practice: bool = False,
) -> ReportFiles:
    """Write ``index.html``, ``gradebook.csv``, ``gradebook.json`` and ``students/*.html`` into `out`.

    Students are taken one at a time and only their line of the table is kept: the results of a large class
    take more memory than its pages. Each file is replaced in one step, so a stopped run leaves old or new
    pages, never half ones.

    Parameters
    ----------
    out : Path
        Made where it isn't there.
    students : iterable of StudentResults
        Usually :func:`engine.marks.class_results.class_results`.
    title : str
    problems, ungraded_files, ignored, sentence_of, practice
        As in :func:`engine.pages.summary.summary_page`.
    notes : callable
        Returns what the instructor should know; called when all students are taken.
    solutions : bool
        Whether the students' pages show worked solutions.

    Raises
    ------
    StoreError
        A file can't be written.
    """
    pages: dict[str, Path] = {}

    # Pages are written while the table takes in its rows: each student's results are in memory once.
    def with_pages() -> Iterator[StudentResults]:
        for results in students:
            pages[results.student] = write_page(out / "students", results, title=title, solutions=solutions)
            reached("between-pages")
            yield results

    # Named places at which a test kills the program, to see that the next run completes the files.
    reached("before-pages")
    with report_errors(out):
        (out / "students").mkdir(parents=True, exist_ok=True)
        table = class_table(title, with_pages())
    page = summary_page(
        table,
        links={student: f"students/{path.name}" for student, path in pages.items()},
        problems=problems,
        ungraded_files=ungraded_files,
        ignored=ignored,
        notes=notes(),
        sentence_of=sentence_of,
        practice=practice,
    )
    reached("before-gradebook")
    tables = {
        "gradebook.csv": gradebook_csv(table, practice=practice),
        "gradebook.json": gradebook_json(table, practice=practice),
    }
    # The index comes last: it never names a file that isn't there yet.
    gradebook, _, index = write_pages(out, {**tables, "index.html": page})
    reached("after-pages")
    return ReportFiles(index, gradebook, pages, table)
