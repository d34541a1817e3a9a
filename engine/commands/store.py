"""``grade store check``: whether everything in a store is sound."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import CommandGroup, course_option, json_option, store_option
from engine.errors import UsageError
from engine.text.words import count_noun

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.store import Store

__all__ = [
    "backup",
    "check",
    "command",
    "copy",
    "erase_student",
    "export_student",
    "open_existing",
    "show_rows",
]


@click.command("check")
@json_option
@course_option
@store_option
def check(as_json: bool, course_path: Path | None) -> int:
    """Look at everything in the store: the file, every row, and whether marks fit their reports.

    Exit code 0: all is sound; 1: faults are listed; 3: it can't be opened at all.

    \b
    Example:
      grade store check --course attention-2026
      grade store check --store monday.db
    """
    from engine.commands.context import find_context
    from engine.text.escape import clean_line

    with open_existing(find_context(course_path)) as store:
        found = store.upkeep.check()
    if as_json:
        told = {"where": store.where, "schema": found.schema, "rows": found.rows, "faults": found.faults}
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return 1 if found.faults else 0
    show_rows(found.rows)
    click.echo()
    for fault in found.faults:
        click.echo(f"fault: {clean_line(fault, 500)}")
    if found.faults:
        click.echo(f"next: stop grading, keep a copy of {store.where}, and go back to the last backup")
        return 1
    click.echo(f"{store.where} is sound (schema {found.schema})")
    return 0


# ----------------------------------------------------------------------------------------------------
# ``grade store backup`` and ``grade store copy``: the same rows somewhere else.


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@course_option
@store_option
def backup(file: Path, as_json: bool, course_path: Path | None) -> None:
    """Write the store, as it is at this moment, to the new SQLite file FILE; grading may go on.

    A file that is there is never replaced. FILE holds marks and keys: only you may read it.

    \b
    Example:
      grade store backup monday.db --course attention-2026
    """
    from engine.commands.context import find_context

    with open_existing(find_context(course_path)) as store:
        rows = store.upkeep.back_up(file)
    _tell(rows, store.where, str(file), as_json)


@click.command("copy")
@click.argument("target", metavar="URL|FILE")
@json_option
@course_option
@store_option
def copy(target: str, as_json: bool, course_path: Path | None) -> None:
    """Copy the store to URL or FILE, which must be empty: to move to a server, or back from a backup.

    Both are compared afterwards. The course goes on using its store until `store:` in course.yaml says
    otherwise.

    \b
    Examples:
      grade store copy postgresql://grader@db/attention --course attention-2026
      grade store copy attention-2026/.softmark/store.db --store monday.db
    """
    from engine.commands.context import find_context
    from engine.commands.options import checked_store

    checked_store(target, "the store to copy to")
    with open_existing(find_context(course_path)) as store:
        rows, where = store.upkeep.copy_to(target)
    _tell(rows, store.where, where, as_json)


def _tell(rows: Mapping[str, int], source: str, target: str, as_json: bool) -> None:

    if as_json:
        click.echo(json.dumps({"from": source, "to": target, "rows": rows}, ensure_ascii=False, indent=2))
        return
    show_rows(rows)
    click.echo()
    click.echo(f"{source} is copied to {target}")


# ----------------------------------------------------------------------------------------------------
# ``grade store export-student`` and ``erase-student``: what is stored on one person.

# Softmark doesn't know where these were put: whoever erases must look.
LEFT = (
    "the line in roster.csv, and policies in course.yaml that name the student",
    "the quiz files in quizzes/, and what was handed in: grading that again would store it again",
    "pages, gradebooks and tables that were written, and what was uploaded",
    "backups of the store, and those of the machine or the database server",
)


@click.command("export-student")
@click.argument("student", metavar="ID")
@click.option(
    "--out", type=click.Path(path_type=Path), default=None, help="The zip file to write (default: ID.zip)."
)
@json_option
@course_option
@store_option
def export_student(student: str, out: Path | None, as_json: bool, course_path: Path | None) -> None:
    """Write everything that is stored on the student ID to a zip: a JSON document, and the code.

    Keys and worked solutions are left out, so it can be handed out. It doesn't look whether marks are
    released yet.

    \b
    Example:
      grade store export-student 007 --course attention-2026 --out 007.zip
    """
    from engine.commands.context import find_context
    from engine.store.people import write_person

    context = find_context(course_path)
    with open_existing(context) as store:
        stored = store.people.everything_on(student)
    course = context.course
    person = course.roster(tolerant=True).by_id.get(student) if course else None
    kept = context.open_problems()
    unread = [problem.as_json() for problem in (kept.of(student) if kept else ())]
    if unread:
        stored = {**stored, "not_graded": unread}
    rows = {table: len(found) for table, found in stored.items()}
    if person is None and not any(rows.values()):
        raise _unknown(student, store.where)
    listed = {"id": person.id, "name": person.name, "email": person.email} if person else None
    path = out or Path(_file_name(student))
    files = write_person(path, student, listed, stored)
    if as_json:
        told = {"student": student, "file": str(path), "rows": rows, "code_files": files}
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return

    show_rows(rows)
    click.echo()
    click.echo(f"{path}: everything stored on {student}, {count_noun(files, 'file')} of code")


@click.command("erase-student")
@click.argument("student", metavar="ID")
@click.option("--yes", is_flag=True, help="Erase it; without this it is only shown what would go.")
@json_option
@course_option
@store_option
def erase_student(student: str, yes: bool, as_json: bool, course_path: Path | None) -> None:
    """Show what is stored on the student ID and, with --yes, erase all of it in one step.

    It can't be taken back. What the store doesn't know of is listed: that is left to you.

    \b
    Example:
      grade store erase-student 007 --course attention-2026
      grade store erase-student 007 --course attention-2026 --yes
    """
    from engine.commands.context import find_context

    context = find_context(course_path)
    with open_existing(context) as store:
        rows = store.people.erase(student) if yes else store.people.rows(student)
    kept = context.open_problems()
    unread = 0 if kept is None else kept.forget(student) if yes else len(kept.of(student))
    if unread:
        rows = {**rows, "not_graded": unread}
    if not any(rows.values()):
        raise _unknown(student, store.where)
    if as_json:
        told = {"student": student, "erased": yes, "rows": rows, "left": LEFT}
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    show_rows(rows)
    click.echo()
    click.echo(
        f"{student} is erased from {store.where}" if yes else "nothing was erased: --yes erases all this"
    )
    click.echo("left to you:")
    for line in LEFT:
        click.echo(f"  {line}")


def _unknown(student: str, where: str) -> UsageError:
    return UsageError(
        f"nothing is stored on {student!r}",
        where=where,
        next_step="ids are text as in roster.csv: 007 and 7 are two students",
    )


def _file_name(student: str) -> str:
    from engine.pages.feedback import page_name

    return page_name(student).removesuffix(".html") + ".zip"


# ----------------------------------------------------------------------------------------------------
# ``grade store``: check a course's store, back it up, move it, hand out or erase one person's data.


@click.group("store", cls=CommandGroup)
def command() -> None:
    """Look after a course's store: quizzes with their keys, attempts, and marks by hand.

    Others may go on grading meanwhile.

    \b
    Example:
      grade store check --course attention-2026
      grade store backup monday.db --course attention-2026
    """


for _sub in (check, backup, copy, export_student, erase_student):
    command.add_command(_sub)


# ----------------------------------------------------------------------------------------------------
# A store that is there already: looking after one must not make one.


def open_existing(context: CommandContext) -> Store:
    """Open the store; a :class:`UsageError` if it is a file that isn't there."""
    place = context.store_place
    if "://" not in str(place) and not Path(place).exists():
        raise UsageError(
            "there is no store",
            where=str(place),
            next_step="name it with --store, or its course with --course",
        )
    return context.open_store()


def show_rows(rows: Mapping[str, int]) -> None:
    """Print a table of how many rows each table has."""
    from engine.commands.render import show_table

    show_table(["table", "rows"], [[name, str(count)] for name, count in rows.items()])
