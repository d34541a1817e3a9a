"""``grade store export-student`` and ``erase-student``: what is stored on one person."""

from __future__ import annotations

import json
from pathlib import Path

import click

from engine.commands.options import course_option, json_option, store_option
from engine.errors import UsageError
from engine.plurals import counted

__all__ = ["erase_student", "export_student"]

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
    from engine.commands.store.existing import open_existing
    from engine.commands.workplace import find_workplace
    from engine.store.person_archive import write_person

    workplace = find_workplace(course_path)
    with open_existing(workplace) as store:
        stored = store.people.everything_on(student)
    course = workplace.course
    person = course.roster(tolerant=True).by_id.get(student) if course else None
    kept = workplace.open_problems()
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
    from engine.commands.store.existing import show_rows

    show_rows(rows)
    click.echo()
    click.echo(f"{path}: everything stored on {student}, {counted(files, 'file')} of code")


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
    from engine.commands.store.existing import open_existing, show_rows
    from engine.commands.workplace import find_workplace

    workplace = find_workplace(course_path)
    with open_existing(workplace) as store:
        rows = store.people.erase(student) if yes else store.people.rows(student)
    kept = workplace.open_problems()
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
    from engine.report.student_pages import page_name

    return page_name(student).removesuffix(".html") + ".zip"
