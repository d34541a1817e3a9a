"""``grade intake``: what a download holds, before anything of it is graded."""

from __future__ import annotations

import json
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.options import collected, course_option, json_option, layout_option, tell_problems
from engine.text.words import count_noun

if TYPE_CHECKING:
    from engine.hand_ins import HandedFile, IntakeResult

__all__ = ["command"]


@click.command("intake")
@click.argument("source", metavar="DIR|ARCHIVE|FILE", type=click.Path(path_type=Path))
@click.option("--item", default=None, help="All code is for this item; files may be called after students.")
@layout_option
@json_option
@course_option
def command(source: Path, item: str | None, layout: str, as_json: bool, course_path: Path | None) -> int:
    """Show what `grade batch` would grade of a download: whose, in which order, how late; grade nothing.

    Downloads of Canvas, Moodle, Gradescope and GitHub Classroom are known, and folders, ZIP and tar archives
    with one folder or one file per student. Nothing is stored, and nothing is run.

    Exit code 0: all of it can be graded; 1: some of it needs a person (listed).

    \b
    Example:
      grade intake submissions.zip --course attention-2026
    """

    from engine.commands.context import find_context
    from engine.text.files import work_folder

    context = find_context(course_path)
    course = context.course
    roster = course.roster(tolerant=True) if course else None
    with work_folder() as workdir:
        intake = collected(context, source, workdir, roster=roster, item=item, layout=layout)
    if as_json:
        click.echo(json.dumps(_as_json(intake), ensure_ascii=False, indent=2))
    else:
        _tell(intake, course.settings.policies.zone if course else UTC)
    return 1 if intake.problems else 0


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


def _tell(intake: IntakeResult, zone: tzinfo) -> None:
    from engine.commands.render import show_table

    rows = [
        [
            student.student,
            "" if student.label == student.student else student.label,
            file.item or str(file.kind),
            str(file.sequence + 1),
            _moment(file, zone),
            file.name,
        ]
        for student in intake.students
        for file in student.files
    ]
    show_table(["student", "called", "item", "attempt", "handed in", "file"], rows)
    click.echo()
    people = sum(bool(student.files) for student in intake.students)
    click.echo(
        f"layout {intake.layout}: {count_noun(len(rows), 'file')} of {count_noun(people, 'student')} "
        "would be graded"
    )
    for table in intake.tables:
        click.echo(f"a table of answers, read when it is graded: {table.name}")
    if intake.ignored:
        click.echo(f"ignored: {count_noun(len(intake.ignored), 'file')} that systems left behind")
    tell_problems(intake.problems)


def _moment(file: HandedFile, zone: tzinfo) -> str:
    """Return when a file was handed in, and whether it is marked as late, as far as it is known."""
    when = _shown(file.handed, zone) if file.handed else ""
    return " ".join(part for part in (when, "late" if file.marked_late else "") if part)


def _shown(moment: datetime, zone: tzinfo) -> str:
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M %Z")
