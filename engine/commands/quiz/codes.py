"""``grade quiz codes``: slips of paper that sign students in on the site, for an exam room."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log
from engine.commands.options import course_option, json_option, store_option
from engine.commands.terminal import print_json
from engine.errors import QuizError, UsageError
from engine.text.files import replace_text, write_errors
from engine.text.words import count_noun

if TYPE_CHECKING:
    from engine.store import Store

_LAST = timedelta(hours=4)  # longer than any exam: without --until


@click.command("codes")
@click.argument("quiz", metavar="QUIZ")
@click.option("--student", "students", multiple=True, help="Only this student (repeatable); default: all.")
@click.option("--from", "begins", metavar="TIME", help="When the codes begin to work; default: at once.")
@click.option("--until", "ends", metavar="TIME", help="When they stop working; default: 4 hours later.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The page to print (default: QUIZ-codes.html), readable by you alone (mode 0600).",
)
@click.option("--withdraw", is_flag=True, help="End all unused codes of QUIZ instead.")
@json_option
@course_option
@store_option
def codes(
    quiz: str,
    students: tuple[str, ...],
    begins: str | None,
    ends: str | None,
    html: Path | None,
    withdraw: bool,
    as_json: bool,
    course_path: Path | None,
) -> None:
    """Make a code for each student of QUIZ (its name): it signs the student in on the site, once.

    Print the page and cut it: it has a slip for each student. A session that begins with a code ends with it,
    or with the student's sitting where that lasts longer. New codes replace a student's unused ones. TIME is
    in the course's time zone, such as "2026-12-03 10:00".

    \b
    Examples:
      grade quiz codes l16 --course attention-2026
      grade quiz codes l16 --student 007 --html 007.html --course attention-2026
      grade quiz codes l16 --withdraw --course attention-2026
    """
    from engine.course.sign_in_secrets import issue_codes
    from engine.quiz.rules import now

    context = find_context(course_path)
    course = context.require_course()
    secret = context.secret()
    path = html or Path(f"{quiz}-codes.html")
    moment = now()
    first = _moment(context, "--from", begins)
    last = _moment(context, "--until", ends) or (first or moment) + _LAST
    if last <= max(first or moment, moment):
        raise UsageError("the codes would end before they begin", got=f"--until {ends}")
    with context.open_store() as store:
        if withdraw:
            count = store.sign_in_secrets.withdraw_codes(quiz)
            if count:
                log(context, store, "quiz.codes.withdraw", quiz, codes=count)
            click.echo(f"{count_noun(count, 'unused code')} withdrawn")
            return
        people = _people(context, store, quiz, students)
        if path.exists() and not as_json:
            # The page there may have the only copies of codes that are still valid.
            raise UsageError(
                "a file of that name exists", where=str(path), next_step="name another one with --html"
            )
        made = issue_codes(store, secret, people, quiz=quiz, now=moment, begins=first, expires=last)
        only = people[0] if len(people) == 1 else None
        log(context, store, "quiz.codes", quiz, student=only, codes=len(made), until=last.isoformat())
        title = store.sittings.quiz_titles().get(quiz, quiz)
    if as_json:
        times = {"from": (first or moment).isoformat(), "until": last.isoformat()}
        print_json({"quiz": quiz, **times, "codes": [{"student": s, "code": c} for s, c in made.items()]})
        return
    from engine.pages.quiz import code_slips_page

    zone = course.policies.zone
    page = code_slips_page(
        made,
        names=context.names,
        course=course.title,
        quiz=title,
        begins=(first or moment).astimezone(zone),
        ends=last.astimezone(zone),
        address=_site_address(course.folder),
    )
    with write_errors("the page can't be written", path, next_step="name another file with --html"):
        replace_text(path, page, private=True)
    click.echo(
        f"{count_noun(len(made), 'code')} for {quiz} in {path} (mode 0600: only you can read it); "
        "print it, and delete it"
    )


def _moment(context: CommandContext, option: str, text: str | None) -> datetime | None:
    from pydantic_core import PydanticCustomError

    from engine.course.policies import local_time

    if text is None:
        return None
    try:
        local = local_time(text)
    except PydanticCustomError as error:
        raise UsageError(f"{option} isn't a time", expected=error.message(), got=repr(text)) from None
    moment: datetime = local.begins(context.require_course().policies.zone)
    return moment


def _people(context: CommandContext, store: Store, quiz: str, students: tuple[str, ...]) -> list[str]:
    drawn = [q.student for q in store.quizzes(quiz)]
    if not drawn:
        names = ", ".join(store.quiz_names()) or "none was drawn here"
        raise QuizError(f"quiz {quiz!r} was not drawn", expected=f"a quiz that was drawn: {names}")
    roster = context.roster
    by_id = roster.by_id if roster else {}
    people = [s for s in dict.fromkeys(drawn) if s in by_id and (not students or s in students)]
    missing = sorted(set(students) - set(people))
    if missing or not people:
        raise QuizError(
            f"no code can be made for {', '.join(missing) or 'anybody'}",
            expected=f"students of the roster for whom {quiz} was drawn",
            next_step="add them to roster.csv, and draw the quiz for them",
        )
    return people


def _site_address(folder: Path) -> str | None:
    """Return the address that web.yaml says; its faults are `grade serve`'s business."""
    from engine.errors import InputError
    from engine.text.yaml import read_yaml

    try:
        data = read_yaml(folder / "web.yaml").data
    except InputError:
        return None
    address = data.get("address") if isinstance(data, dict) else None
    return address if isinstance(address, str) else None
