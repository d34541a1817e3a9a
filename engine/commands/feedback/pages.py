"""Writes feedback pages from the store, and the archive of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.errors import UsageError
from engine.plurals import counted

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.course import Roster
    from engine.report.zip_pack import LeftOut, Pack
    from engine.store import Store

__all__ = ["Written", "as_json", "tell", "write_feedback"]


@dataclass(frozen=True)
class Written:
    """What was written: the pages by student, and the archive with who isn't in it."""

    folder: Path
    pages: dict[str, Path]
    archive: Path | None = None
    members: int = 0
    size: int = 0
    left_out: Sequence[LeftOut] = ()


def _stored_place(course_path: Path | None) -> Workplace:
    """Return the workplace whose store is asked.

    Raises
    ------
    UsageError
        There is no course here, and no store was named.
    """
    from engine.commands.workplace import find_workplace

    workplace = find_workplace(course_path)
    if workplace.course is None and workplace.store is None:
        raise UsageError(
            "there is no course here", next_step="name one with --course FOLDER, or a store with --store FILE"
        )
    return workplace


def write_feedback(
    course_path: Path | None,
    out: Path,
    *,
    students: Sequence[str],
    solutions: bool,
    layout: str | None,
    assignment: str | None,
) -> Written:
    """Write the pages of these students (of everybody by default), and the archive if one is asked for."""
    from engine.commands.terminal import progress_bar
    from engine.report.student_pages import told_faults, write_page
    from engine.report.zip_pack import Pack

    workplace = _stored_place(course_path)
    course = workplace.course
    if course:
        course.require_rules()  # they say what may be shown
    roster = course.roster(tolerant=True) if course else None
    pack = Pack(layout, assignment) if layout else None
    folder, pages = out / "students", dict[str, Path]()
    with workplace.open_marks() as store, told_faults(out):
        known = _known(store, roster, workplace, students)
        if assignment is not None:
            _check_assignment(assignment, {*store.quiz_names(), *workplace.bank.code_ids()})
        folder.mkdir(parents=True, exist_ok=True)
        with progress_bar("writing pages", len(students or known)) as advance:
            for results in workplace.results(store, roster=roster, only=students or None):
                title = course.title if course else "Practice"
                page = write_page(folder, results, title=title, solutions=solutions)
                pages[results.student] = page
                if pack is not None:
                    pack.add(results, page)
                advance()
        return Written(folder, pages) if pack is None else _packed(out, folder, pages, pack)


def _known(store: Store, roster: Roster | None, workplace: Workplace, students: Sequence[str]) -> set[str]:
    known = set(store.students(workplace.mode)) | set(roster.by_id if roster else ())
    kept = workplace.open_problems()
    known |= {one.student for one in (kept.still_open(store) if kept else ()) if one.student}
    for student in students:
        if student not in known:
            raise UsageError(
                "nobody of this id is in the roster or in the store",
                got=repr(student[:100]),
                next_step="use the id of the first column of the gradebook",
            )
    return known


def _check_assignment(assignment: str, known: Collection[str]) -> None:
    import difflib

    if assignment in known:
        return
    near = difflib.get_close_matches(assignment, known, n=1)
    raise UsageError(
        "there is no quiz or code exercise of this name",
        got=repr(assignment[:100]),
        next_step=f"did you mean {near[0]}?" if near else "take a name from the gradebook's columns",
    )


_MOST_NAMED = 5  # of those who aren't packed for the same reason


def _packed(out: Path, folder: Path, pages: dict[str, Path], pack: Pack) -> Written:
    from engine.report.zip_pack import write_zip

    archive, members = out / f"feedback-{pack.layout}.zip", pack.members
    if not members:
        # An old archive under this name would be taken for the new one.
        archive.unlink(missing_ok=True)
        return Written(folder, pages, None, 0, 0, pack.left_out)
    return Written(folder, pages, archive, len(members), write_zip(archive, members), pack.left_out)


def as_json(written: Written) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    return {
        "pages": {student: str(path) for student, path in written.pages.items()},
        "zip": None if written.archive is None else str(written.archive),
        "packed": written.members,
        "bytes": written.size,
        "left_out": [{"student": one.student, "reason": one.reason} for one in written.left_out],
    }


def tell(written: Written) -> None:
    """Print where the pages are, and who isn't in the archive."""
    from engine.foreign import clean_line

    count = len(written.pages)
    click.echo(f"{counted(count, 'page')}: {written.folder}")
    if written.archive is not None:
        pages = f"{counted(written.members, 'page')}"
        click.echo(f"{pages}, {_size(written.size)}: {written.archive}")
    elif written.left_out:
        click.echo("no archive was written: no page can be packed")
    by_reason: dict[str, list[str]] = {}
    for one in written.left_out:
        by_reason.setdefault(one.reason, []).append(clean_line(one.student))
    for reason, students in by_reason.items():
        if len(students) <= _MOST_NAMED:
            for student in students:
                click.echo(f"not packed: {student}: {reason}")
        else:
            more = len(students) - _MOST_NAMED
            click.echo(f"not packed: {', '.join(students[:_MOST_NAMED])} and {more} more: {reason}")
    if written.archive is None and written.left_out:
        click.echo("  next: grade the download of the learning system as it is, or take --zip plain")


def _size(size: int) -> str:
    return f"{size / 2**20:.1f} MiB" if size >= 2**20 else f"{max(size / 2**10, 1):.0f} KiB"
