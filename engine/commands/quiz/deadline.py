"""``grade quiz deadline``: see when a quiz closes, or move it, for all or for one student."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

import click

from engine.commands.options import course_option, json_option, store_option
from engine.errors import QuizError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from engine.commands.workplace import Workplace
    from engine.model import Quiz

__all__ = ["deadline"]


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
    """Move the deadline of QUIZ (its name) to TIME, or show it; `none` takes it away.

    It is the only thing of a quiz that changes once it is drawn. Files that are out still name the old one.
    The dates of course.yaml are shown beside it: after `due` work is late, after `closes` it doesn't count.

    \b
    Examples:
      grade quiz deadline l16 --course attention-2026
      grade quiz deadline l16 2026-12-03T12:00+01:00 --student 007 --course attention-2026
    """
    from engine.commands.workplace import find_workplace

    moment = None if time is None else _moment(time)
    workplace = find_workplace(course_path)
    with workplace.open_store() as store:
        found = [q for q in store.quizzes(quiz) if not students or q.student in students]
        missing = sorted(set(students) - {q.student for q in found})
        if not found or missing:
            names = ", ".join(store.quiz_names()) or "none was drawn here"
            raise QuizError(
                f"quiz {quiz!r} was not drawn" + (f" for {', '.join(missing)}" if missing else ""),
                expected=f"a quiz that was drawn: {names}",
            )
        if time is not None:
            found = [after for _, after in store.sittings.move_deadline(quiz, moment, students)]
    dates = [_dates(workplace, q) for q in found]
    if as_json:
        rows = [
            {
                "student": q.student,
                "quiz": q.id,
                "deadline": q.rules.deadline and q.rules.deadline.isoformat(),
                "due": due and due.isoformat(),
                "closes": closes and closes.isoformat(),
            }
            for q, (due, closes) in zip(found, dates, strict=True)
        ]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        _show(found, dates)


def _moment(time: str) -> datetime | None:
    from pydantic import TypeAdapter, ValidationError

    from engine.quiz.keys import Deadline

    if time == "none":
        return None
    try:
        moment: datetime = TypeAdapter(Deadline).validate_python(time)
    except ValidationError as error:
        raise UsageError(error.errors()[0]["msg"], got=repr(time)) from None
    return moment


def _dates(workplace: Workplace, quiz: Quiz) -> tuple[datetime | None, datetime | None]:
    """Return until when the course's rules say that work is in time, and until when it counts."""
    from engine.course.policies import terms_of

    if workplace.course is None:
        return None, None
    terms = terms_of(workplace.course.policies, quiz.student, quiz.name)
    return terms.due, terms.closes


def _show(quizzes: list[Quiz], dates: list[tuple[datetime | None, datetime | None]]) -> None:
    from engine.commands.render import show_table
    from engine.quiz import clock
    from engine.quiz.rules_text import deadline_text, time_left

    now = clock.now()
    groups: dict[tuple[datetime | None, datetime | None, datetime | None], list[str]] = {}
    for quiz, of_course in zip(quizzes, dates, strict=True):
        groups.setdefault((quiz.rules.deadline, *of_course), []).append(quiz.student)
    heads = ["deadline", "", "due (course.yaml)", "closes (course.yaml)"]
    rows = []
    for (moment, due, closes), students in groups.items():
        left = "" if moment is None else "over" if now > moment else f"in {time_left(moment, now)}"
        texts = ["" if date is None else deadline_text(date) for date in (due, closes)]
        who = ", ".join(students[:10]) + (" …" if len(students) > 10 else "")
        own = "none" if moment is None else deadline_text(moment)
        rows.append([own, left, *texts, str(len(students)), who])
    # Dates that the course doesn't have get no column.
    kept = [at for at in range(len(heads)) if at < 2 or any(row[at] for row in rows)]
    shown = [[*(row[at] for at in kept), *row[len(heads) :]] for row in rows]
    show_table([*(heads[at] for at in kept), "quizzes", "students"], shown)
