"""The feedback pages of a class, and the archive in which a learning system takes them back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import UsageError
from engine.marks.class_table import StudentResults
from engine.pages.feedback import write_page
from engine.pages.zip import LeftOut, PageArchive, write_zip
from engine.text.words import suggestion


@dataclass(frozen=True)
class WrittenPages:
    """The pages by student, and the archive with who isn't in it."""

    folder: Path
    pages: dict[str, Path]
    archive: Path | None = None
    members: int = 0
    size: int = 0
    left_out: Sequence[LeftOut] = ()

    def as_json(self) -> dict[str, Any]:
        """Return what ``grade feedback --json`` prints."""
        return {
            "pages": {student: str(path) for student, path in self.pages.items()},
            "zip": None if self.archive is None else str(self.archive),
            "packed": self.members,
            "bytes": self.size,
            "left_out": [{"student": page.student, "reason": page.reason} for page in self.left_out],
        }


def write_class_pages(
    out: Path,
    students: Iterable[StudentResults],
    *,
    title: str,
    solutions: bool = False,
    layout: str | None = None,
    assignment: str | None = None,
    progress: Callable[[], None] = lambda: None,
) -> WrittenPages:
    """Write every student's page into a folder, and pack the pages if a layout is named.

    Parameters
    ----------
    out : Path
        Pages go into its folder ``students``.
    students : iterable of StudentResults
    title : str
        Of the course.
    solutions : bool
        Show worked solutions and keys, whatever a quiz's rules say.
    layout : str, optional
        One of :data:`engine.pages.zip.LAYOUTS`.
    assignment : str, optional
        For the archive: take the names from the hand-ins of this quiz or code item.
    progress : callable
        Called once for each page.
    """
    archive = PageArchive(layout, assignment) if layout else None
    folder, pages = out / "students", dict[str, Path]()
    folder.mkdir(parents=True, exist_ok=True)
    for results in students:
        page = write_page(folder, results, title=title, solutions=solutions)
        pages[results.student] = page
        if archive is not None:
            archive.add(results, page)
        progress()
    if archive is None:
        return WrittenPages(folder, pages)
    path, members = out / f"feedback-{layout}.zip", archive.members
    if not members:
        # An old archive under this name would be taken for the new one.
        path.unlink(missing_ok=True)
        return WrittenPages(folder, pages, left_out=archive.left_out)
    size = write_zip(path, members)
    return WrittenPages(folder, pages, path, len(members), size, archive.left_out)


def check_assignment(assignment: str, known: Collection[str]) -> None:
    """Refuse an assignment that isn't one of those known."""
    if assignment not in known:
        raise UsageError(
            "there is no quiz or code exercise of this name",
            got=repr(assignment[:100]),
            next_step=suggestion(assignment, known) or "take a name from the gradebook's columns",
        )
