"""Write all pages and tables of a class into one folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.course import ClassTable, IntakeProblem, StudentResults, class_table
from engine.crash_points import reached
from engine.files import replace_text
from engine.report.gradebook import gradebook_csv, gradebook_json
from engine.report.student_pages import told_faults, write_page
from engine.report.summary import summary_page

__all__ = ["ReportFiles", "write_reports"]


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What was written, and the table that it shows."""

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

    Students are taken one at a time; only their line of the table is kept. Each file is replaced
    in one step, so a stopped run leaves old or new pages, never half ones.

    Parameters
    ----------
    out : Path
        Made where it isn't there.
    students : iterable of StudentResults
        Usually :func:`engine.batch.class_results`.
    title : str
    problems, ungraded_files, ignored, sentence_of, practice
        As in :func:`engine.report.summary.summary_page`.
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

    def with_pages() -> Iterator[StudentResults]:
        for results in students:
            pages[results.student] = write_page(out / "students", results, title=title, solutions=solutions)
            reached("between-pages")
            yield results

    reached("before-pages")
    with told_faults(out):
        (out / "students").mkdir(parents=True, exist_ok=True)
        table = class_table(title, with_pages())
        index, gradebook = out / "index.html", out / "gradebook.csv"
        links = {student: f"students/{path.name}" for student, path in pages.items()}
        page = summary_page(
            table,
            links=links,
            problems=problems,
            ungraded_files=ungraded_files,
            ignored=ignored,
            notes=notes(),
            sentence_of=sentence_of,
            practice=practice,
        )
        reached("before-gradebook")
        replace_text(gradebook, gradebook_csv(table, practice=practice))
        replace_text(out / "gradebook.json", gradebook_json(table, practice=practice))
        replace_text(index, page)
    reached("after-pages")
    return ReportFiles(index, gradebook, pages, table)
