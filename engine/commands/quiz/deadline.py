"""``grade quiz deadline``: see when a quiz closes, or move it, for all or for one student."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import find_context
from engine.commands.journal import LogLine, log_lines
from engine.commands.options import course_option, json_option, store_option
from engine.commands.terminal import print_json, show_table

if TYPE_CHECKING:
    from engine.course.policies import Policies
    from engine.model import Quiz


@click.command("deadline")
@click.argument("quiz", metavar="QUIZ")
@click.argument("time", required=False)
@click.option("--student", "students", multiple=True, help="Only this student's (repeatable); default: all.")
@json_option
@course_option
@store_option
def deadline(
    quiz: str, time: str | None, students: tuple[str, ...], as_json: bool, course_path: Path | None
) -> None:
    """Move the deadline of QUIZ (its name) to TIME, or show it; `none` removes it.

    Nothing else of a quiz changes once it is drawn. Files that are out still show the old deadline.
    The dates of course.yaml are shown beside it: after `due` work is late, after `closes` it doesn't count.

    \b
    Examples:
      grade quiz deadline l16 --course attention-2026
      grade quiz deadline l16 2026-12-03T12:00+01:00 --student 007 --course attention-2026
    """
    from engine.quiz.blueprint import deadline_of
    from engine.quiz.drawn_class import drawn_quizzes

    moment = None if time is None else deadline_of(time)
    context = find_context(course_path)
    with context.open_store() as store:
        quizzes = drawn_quizzes(store, quiz, students)
        if time is not None:
            with store.one_transaction():
                quizzes = [after for _, after in store.sittings.move_deadline(quiz, moment, students)]
                details = {"deadline": moment.isoformat() if moment else "none"}
                # One line for each student: the log is searched, handed out and erased by student.
                whom = dict.fromkeys(students) or (None,)
                lines = [LogLine("quiz.deadline", quiz, student, details) for student in whom]
                log_lines(context, store, lines)
        # Two dates can disagree, the quiz's own and the course's; whoever moves one should see the other.
        policies = context.policies(store)
    dates = [_course_dates(policies, quiz) for quiz in quizzes]
    if not as_json:
        _show(quizzes, dates)
        return
    print_json(
        [
            {
                "student": quiz.student,
                "quiz": quiz.id,
                "deadline": quiz.rules.deadline and quiz.rules.deadline.isoformat(),
                "due": due and due.isoformat(),
                "closes": closes and closes.isoformat(),
            }
            for quiz, (due, closes) in zip(quizzes, dates, strict=True)
        ]
    )


def _course_dates(policies: Policies, quiz: Quiz) -> tuple[datetime | None, datetime | None]:
    """Return until when the course's rules say that work is in time, and until when it counts."""
    from engine.marks import terms_of

    terms = terms_of(policies, quiz.student, quiz.name)
    return terms.due, terms.closes


def _show(quizzes: list[Quiz], dates: list[tuple[datetime | None, datetime | None]]) -> None:
    """Print a row for each deadline that there is, with the students who have it."""
    from engine.quiz.rules import deadline_text, now, time_left

    moment = now()
    groups: dict[tuple[datetime | None, ...], list[str]] = {}
    for quiz, course_dates in zip(quizzes, dates, strict=True):
        groups.setdefault((quiz.rules.deadline, *course_dates), []).append(quiz.student)
    heads = ["deadline", "", "due (course.yaml)", "closes (course.yaml)", "quizzes", "students"]
    rows = []
    for (closing, *other_dates), students in groups.items():
        remaining = (
            "" if closing is None else "over" if moment > closing else f"in {time_left(closing, moment)}"
        )
        texts = ["" if date is None else deadline_text(date) for date in other_dates]
        # Ten ids are about what a line takes; --json has all.
        some = ", ".join(students[:10]) + (" …" if len(students) > 10 else "")
        shown_deadline = "none" if closing is None else deadline_text(closing)
        rows.append([shown_deadline, remaining, *texts, str(len(students)), some])
    # Dates that the course doesn't have get no column.
    columns = [index for index in range(len(heads)) if index not in (2, 3) or any(row[index] for row in rows)]
    show_table([heads[index] for index in columns], [[row[index] for index in columns] for row in rows])
