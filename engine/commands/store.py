"""``grade store``: check a course's store, back it up, move it, hand out or erase one person's data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log
from engine.commands.options import CommandGroup, check_store, course_option, json_option, store_option
from engine.commands.terminal import print_json, show_table
from engine.errors import UsageError
from engine.text.words import clean_line, count_noun

if TYPE_CHECKING:
    from engine.cluster.course_line import CourseLine
    from engine.store import Store


@click.group("store", cls=CommandGroup)
def command() -> None:
    """Look after a course's store: quizzes with their keys, attempts, and marks by hand.

    Others may go on grading meanwhile.

    \b
    Examples:
      grade store check --course attention-2026
      grade store backup monday.db --course attention-2026
    """


@command.command("check")
@json_option
@course_option
@store_option
def check(as_json: bool, course_path: Path | None) -> int:
    """Check everything in the store: the file, every row, and whether marks fit their reports.

    Tables without a row aren't shown. Exit code 0: all is sound; 1: faults are listed; 3: it can't be opened
    at all.

    \b
    Examples:
      grade store check --course attention-2026
      grade store check --store monday.db
    """
    with _open_existing(find_context(course_path)) as store:
        result = store.upkeep.check()
    code = 1 if result.faults else 0
    if as_json:
        document = {"where": store.where, "schema": result.schema}
        print_json({**document, "rows": result.rows, "faults": result.faults})
        return code
    _show_rows(result.rows)
    for fault in result.faults:
        click.echo(f"fault: {clean_line(fault, 500)}")
    if result.faults:
        click.echo(f"next: stop grading, keep a copy of {store.where}, and go back to the last backup")
    else:
        click.echo(f"{store.where} is sound (schema {result.schema})")
    return code


@command.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@course_option
@store_option
def backup(file: Path, as_json: bool, course_path: Path | None) -> None:
    """Write the store, as it is at this moment, to the new SQLite file FILE; grading may go on.

    An existing file is never replaced. FILE holds marks and keys: only you may read it.

    \b
    Example:
      grade store backup monday.db --course attention-2026
    """
    context = find_context(course_path)
    with _open_existing(context) as store:
        rows = store.upkeep.back_up(file)
        log(context, store, "store.backup", file.name)
    _show_copy(rows, store.where, str(file), as_json)


@command.command("copy")
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
    check_store(target, "the store to copy to")
    context = find_context(course_path)
    with _open_existing(context) as store:
        rows, where = store.upkeep.copy_to(target)
        log(context, store, "store.copy", where)
    _show_copy(rows, store.where, where, as_json)


def _show_copy(rows: Mapping[str, int], source: str, target: str, as_json: bool) -> None:
    if as_json:
        print_json({"from": source, "to": target, "rows": rows})
        return
    _show_rows(rows)
    click.echo(f"{source} is copied to {target}")


_LONG_ID = 5  # characters: nothing else is written like it

# Softmark doesn't know where these were put: whoever erases a student must look there.
LEFT_TO_YOU = (
    "the line in roster.csv, and policies in course.yaml that name the student",
    "the quiz files in quizzes/, and what was handed in: grading that again would store it again",
    "pages, gradebooks and tables that were written, and what was uploaded",
    "printed exams and pages of scans in prints/, and the scanned files",
    "texts about others that name the student by a part of the name, and their answers and code",
    "earlier rosters in .softmark/rosters, and mail in .softmark/mail or the folder that web.yaml names",
    "backups of the store, also in .softmark/backups, and those of the machine or the database server",
)


@command.command("export-student")
@click.argument("student", metavar="ID")
@click.option(
    "--out", type=click.Path(path_type=Path), default=None, help="The zip file to write (default: ID.zip)."
)
@json_option
@course_option
@store_option
def export_student(student: str, out: Path | None, as_json: bool, course_path: Path | None) -> None:
    """Write everything that is stored about the student ID to a zip: a JSON document, and the code.

    Keys and worked solutions are left out, so it can be handed out. Marks are in it whether or not they are
    released yet.

    \b
    Example:
      grade store export-student 007 --course attention-2026 --out 007.zip
    """
    from engine.pages.feedback import page_name
    from engine.store.person_data import write_person

    context = find_context(course_path)
    person = context.roster.by_id.get(student) if context.roster else None
    with _open_existing(context) as store:
        stored = store.people.everything_on(student)
        if person is not None or any(stored.values()):
            log(context, store, "student.export", "everything stored", student=student)
    open_problems = context.open_problems()
    ungraded = [problem.as_json() for problem in (open_problems.of(student) if open_problems else ())]
    if ungraded:
        stored = {**stored, "not_graded": ungraded}
    rows = {table: len(entries) for table, entries in stored.items()}
    # Somebody of the roster without work has a zip as well: it says that nothing else is stored.
    if person is None and not any(rows.values()):
        raise _unknown(student, store.where, context)
    roster_line = {"id": person.id, "name": person.name, "email": person.email} if person else None
    # An id may hold what a file name can't; pages of students have solved that.
    path = out or Path(page_name(student)).with_suffix(".zip")
    files = write_person(path, student, roster_line, stored)
    if as_json:
        print_json({"student": student, "file": str(path), "rows": rows, "code_files": files})
        return
    _show_rows(rows)
    click.echo(f"{path}: everything stored about {student}, {count_noun(files, 'file')} of code")


@command.command("erase-student")
@click.argument("student", metavar="ID")
@click.option("--yes", is_flag=True, help="Erase it; without this, what would be erased is only shown.")
@json_option
@course_option
@store_option
def erase_student(student: str, yes: bool, as_json: bool, course_path: Path | None) -> None:
    """Show what is stored about the student ID and, with --yes, erase all of it in one step.

    Programs that wait in the queue of several machines, and reports there that nobody has collected, are
    erased too.

    In texts about others (reasons, comments, requests) the student's full name, address and id are replaced,
    while the roster still has them. It can't be undone. What lies outside the store is listed, for you to
    erase.

    \b
    Examples:
      grade store erase-student 007 --course attention-2026
      grade store erase-student 007 --course attention-2026 --yes
    """
    context = find_context(course_path)
    with _open_existing(context) as store, _queue_of(context) as queue:
        # Asked before anything is erased: a server that can't be reached leaves all as it is.
        in_queue = 0 if queue is None else queue.count_of(*_queue_key(context, student))
        # Shown by default: an erased student can't be brought back from this store.
        names = _names_of(context, student)
        rows = store.people.erase(student, names) if yes else store.people.rows(student)
        # After the store, from which a site hands over what waits.
        if yes and queue is not None:
            in_queue = queue.erase_student(*_queue_key(context, student))
        if in_queue:
            rows = {**rows, "queued_programs": in_queue}
        if yes and any(rows.values()):
            # Without the id: the log mustn't be what still knows the student.
            log(context, store, "student.erase", "a student", rows=sum(rows.values()))
    problems = context.open_problems()
    ungraded = 0 if problems is None else problems.forget(student) if yes else len(problems.of(student))
    if ungraded:
        rows = {**rows, "not_graded": ungraded}
    if not any(rows.values()):
        raise _unknown(student, store.where, context)
    if as_json:
        print_json({"student": student, "erased": yes, "rows": rows, "left": LEFT_TO_YOU})
        return
    _show_rows(rows)
    outcome = (
        f"{student} is erased from {store.where}" if yes else "nothing was erased: --yes erases all this"
    )
    click.echo(outcome)
    click.echo("still to be done by you:")
    for line in LEFT_TO_YOU:
        click.echo(f"  {line}")


@contextmanager
def _queue_of(context: CommandContext) -> Iterator[CourseLine | None]:
    """Yield the queue of several machines that the course uses; None where there is none."""
    place = str(context.queue_place)
    if context.course is None or "://" not in place:
        yield None
        return
    from engine.cluster.queue_tables import open_queue_database, require_owner, version_of

    with closing(open_queue_database(place)) as database:
        require_owner(database)
        with database.read() as connection:
            version = version_of(connection)
        if version is None:
            yield None
            return
        from engine.commands.worker import need_cluster

        need_cluster()
        from engine.cluster.course_line import CourseLine

        yield CourseLine(database)


def _queue_key(context: CommandContext, student: str) -> tuple[str, str]:
    """Return the names by which the queue knows the course and the student."""
    from engine.cluster.fingerprint import course_fingerprint, pseudonym

    secret = context.secret()
    return course_fingerprint(secret), pseudonym(secret, student)


def _names_of(context: CommandContext, student: str) -> list[str]:
    """Return what a student is called in texts about others, as far as it can mean nobody else."""
    person = context.roster.by_id.get(student) if context.roster else None
    if person is None:
        known = []
    else:
        family, comma, first = person.name.partition(",")
        known = [person.name, f"{first.strip()} {family.strip()}" if comma else "", person.email]
    # A short id is a word or a number of its own, and so may be a name of one word.
    full = [name.strip() for name in known if len(name.split()) > 1 or "@" in name]
    return [*full, *([student] if len(student) >= _LONG_ID else [])]


def _unknown(student: str, where: str, context: CommandContext) -> UsageError:
    from engine.course.person_search import near_people

    near = near_people(student, context.roster.students if context.roster else ())
    return UsageError(
        f"nothing is stored about {student!r}{near}",
        where=where,
        next_step="ids are text as in roster.csv: 007 and 7 are two students",
    )


def _open_existing(context: CommandContext) -> Store:
    """Open the store; a :class:`UsageError` if it is a file that isn't there.

    Opening a store makes one where there is none: an empty one would be reported as sound.
    """
    place = context.store_place
    if "://" not in str(place) and not Path(place).exists():
        raise UsageError(
            "there is no store",
            where=str(place),
            next_step="name it with --store, or its course with --course",
        )
    return context.open_store()


def _show_rows(rows: Mapping[str, int]) -> None:
    filled = [[name, str(count)] for name, count in rows.items() if count]
    if filled:
        show_table(["table", "rows"], filled)
    else:
        click.echo("no rows yet")
    click.echo()
