"""``grade intake``: what a download holds, before anything of it is graded."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, tzinfo
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.options import F, RegistryChoice, course_option, json_option
from engine.commands.terminal import print_json, show_table
from engine.errors import UsageError
from engine.text.files import work_folder
from engine.text.times import local_text
from engine.text.words import count_noun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.hand_ins import HandedFile, IntakeProblem, IntakeResult


def item_option(function: F) -> F:
    """Add ``--item``: one code exercise for all code, whatever the files are called."""
    return click.option(
        "--item", default=None, help="Grade all code for this item; files may be named after students."
    )(function)


def layout_option(function: F) -> F:
    """Add ``--layout``: which system's download it is."""
    return click.option(
        "--layout",
        type=RegistryChoice("engine.intake.layouts", "LAYOUTS", "auto"),
        default="auto",
        show_default=True,
        help="Which system's download it is; auto detects it.",
    )(function)


@click.command("intake")
@click.argument("source", metavar="DIR|ARCHIVE|FILE", type=click.Path(path_type=Path))
@item_option
@layout_option
@json_option
@course_option
def command(source: Path, item: str | None, layout: str, as_json: bool, course_path: Path | None) -> int:
    """Show what `grade batch` would grade in a download: whose, in which order, how late. Nothing is graded.

    Downloads of Canvas, Moodle, Gradescope and GitHub Classroom are known, and folders, ZIP and tar archives
    with one folder or one file per student. Nothing is stored, and nothing is run.

    Exit code 0: all of it can be graded; 1: some of it needs a person (listed).

    \b
    Example:
      grade intake submissions.zip --course attention-2026
    """
    context = find_context(course_path)
    # Archives are unpacked there and removed afterwards: downloads hold students' names.
    with work_folder() as workdir:
        intake = collected(context, source, workdir, item=item, layout=layout)
    if as_json:
        print_json(_as_json(intake))
    else:
        _show(intake, context.course.settings.policies.zone if context.course else UTC)
    return 1 if intake.problems else 0


def collected(
    context: CommandContext, source: Path, workdir: Path, *, item: str | None, layout: str
) -> IntakeResult:
    """Return what a class handed in, with the faults of the course's own files among the problems.

    A :class:`UsageError` where all code is for an item that isn't a code exercise.
    """
    from engine.intake import collect

    items = context.bank.code_ids()
    if item is not None and item not in items:
        context.bank.path(item)  # an unknown id is told the nearest ones
        raise UsageError(
            f"{item} isn't a code exercise",
            expected="--item with one of: " + ", ".join(items),
            next_step="leave --item out: quiz files name their quiz themselves",
        )
    roster, course = context.roster, context.course
    intake = collect(
        source,
        workdir,
        items=items,
        roster=roster,
        only_item=item,
        refuse_unlisted=refuses_unlisted(context),
        # None: each known layout is tried, from the most particular to the plain one.
        layout=None if layout == "auto" else layout,
    )
    # First: a faulty roster explains most of what follows.
    faults = (*(course.rule_problems() if course else ()), *(roster.problems() if roster else ()))
    return replace(intake, problems=(*faults, *intake.problems))


def refuses_unlisted(context: CommandContext) -> bool:
    """Return whether the course grades nobody who isn't in its roster."""
    course = context.course
    return course is not None and course.settings.policies.unlisted_students == "refuse"


def _as_json(intake: IntakeResult) -> dict[str, Any]:
    return {
        "layout": intake.layout,
        "students": [
            {
                "student": student.student,
                "called": student.label,
                "files": [
                    {
                        "file": file.name,
                        "kind": str(file.kind),
                        "item": file.item,
                        "sequence": file.sequence,
                        "handed": file.handed.isoformat() if file.handed else None,
                        "marked_late": file.marked_late,
                        "sha256": file.sha256,
                        "imports": [module for module, _ in file.beside],
                    }
                    for file in student.files
                ],
            }
            for student in intake.students
        ],
        "tables": [table.name for table in intake.tables],
        "problems": [problem.as_json() for problem in intake.problems],
        "ignored": list(intake.ignored),
    }


def _show(intake: IntakeResult, zone: tzinfo) -> None:
    rows = [
        [
            student.student,
            "" if student.label == student.student else student.label,
            file.item or str(file.kind),
            # Attempts are counted from 1, as people do.
            str(file.sequence + 1),
            _hand_in_time(file, zone),
            file.name,
        ]
        for student in intake.students
        for file in student.files
    ]
    show_table(["student", "called", "item", "attempt", "handed in", "file"], rows)
    click.echo()
    people = count_noun(sum(bool(student.files) for student in intake.students), "student")
    click.echo(f"layout {intake.layout}: {count_noun(len(rows), 'file')} of {people} would be graded")
    for table in intake.tables:
        click.echo(f"a table of answers, read when it is graded: {table.name}")
    if intake.ignored:
        click.echo(f"ignored: {count_noun(len(intake.ignored), 'file')} that systems left behind")
    show_problems(intake.problems)


def _hand_in_time(file: HandedFile, zone: tzinfo) -> str:
    """Return when a file was handed in, and whether the system marks it as late, as far as it is known."""
    when = local_text(file.handed, zone, with_zone=True) if file.handed else ""
    return " ".join(part for part in (when, "late" if file.marked_late else "") if part)


def show_problems(problems: Sequence[IntakeProblem]) -> None:
    """Print what a person has to look at, a line each."""
    for problem, following in zip_longest(problems, problems[1:]):
        click.echo(f"{_problem_kind(problem)}: {problem.where}: {problem.message}")
        # Of many rows with the same cure only the last says it.
        if problem.next_step and (following is None or following.next_step != problem.next_step):
            click.echo(f"  next: {problem.next_step}")


def _problem_kind(problem: IntakeProblem) -> str:
    if problem.noted:
        return "note"
    return "not joined" if problem.unjoined else "graded in part" if problem.partly else "not graded"
