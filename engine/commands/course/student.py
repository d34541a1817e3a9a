"""``grade course student``: what one student has to do, as the site shows it to them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import find_context
from engine.commands.options import course_option, json_option, store_option
from engine.commands.terminal import number, print_json, show_table
from engine.errors import UsageError
from engine.text.times import local_text
from engine.text.words import clean_line, count_noun, plain_points

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from engine.marks.assignments import AssignmentStatus


@click.command("student")
@click.argument("student")
@json_option
@course_option
@store_option
def student(student: str, as_json: bool, course_path: Path | None) -> None:
    """Show what STUDENT (an id) has to do: published quizzes and code exercises, and until when.

    It counts everything that the student was allowed. Results aren't shown: see grade feedback.

    \b
    Example:
      grade course student 007 --course attention-2026
    """
    from engine.course.person_search import near_people
    from engine.marks.assignments import assignments_of
    from engine.quiz.rules import now

    context = find_context(course_path)
    context.require_course()
    with context.open_store() as store:
        policies = context.policies(store)
        known = context.roster.by_id if context.roster else {}
        if student not in known and not store.quizzes(student=student):
            raise UsageError(
                f"there is no student '{clean_line(student)}'" + near_people(student, known.values()),
                expected="an id of roster.csv",
            )
        entries = assignments_of(student, store, policies, context.bank, mode=context.mode, now=now())
    if as_json:
        print_json([_as_json(entry) for entry in entries])
    elif not entries:
        click.echo("nothing yet: no quiz is published, and course.yaml names no code exercise")
    else:
        _show(entries, policies.zone)


def _show(entries: list[AssignmentStatus], zone: tzinfo) -> None:
    rows = [
        [
            entry.name,
            entry.title,
            number(entry.points),
            str(entry.state),
            f"{entry.handed_in} of {entry.questions}",
            _local(entry.terms.opens, zone),
            _local(entry.terms.due, zone),
            _local(entry.ends, zone),
            "yes" if entry.terms.extended else "",
            count_noun(entry.time_limit, "minute") if entry.time_limit else "",
        ]
        for entry in entries
    ]
    heads = [
        "assignment",
        "title",
        "points",
        "state",
        "handed in",
        f"opens ({zone})",
        f"due ({zone})",
        f"ends ({zone})",
        "extended",
        "time",
    ]
    # Times that no assignment has get no column.
    columns = [index for index in range(len(heads)) if any(row[index] for row in rows)]
    show_table([heads[i] for i in columns], [[row[i] for i in columns] for row in rows])


def _local(moment: datetime | None, zone: tzinfo) -> str:
    return "" if moment is None else local_text(moment, zone)


def _as_json(entry: AssignmentStatus) -> dict[str, object]:
    moments = {
        "opens": entry.terms.opens,
        "due": entry.terms.due,
        "closes": entry.terms.closes,
        "ends": entry.ends,
    }
    return {
        "assignment": entry.name,
        "title": entry.title,
        "points": plain_points(entry.points),
        "state": str(entry.state),
        "open": entry.is_open,
        "handed_in": entry.handed_in,
        "questions": entry.questions,
        **{name: moment and moment.isoformat() for name, moment in moments.items()},
        "extended": entry.terms.extended is not None,
        "excused": entry.terms.is_excused,
        "time_limit": entry.time_limit,
    }
