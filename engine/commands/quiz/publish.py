"""``grade quiz publish`` and ``close``: when a quiz is on the site, and when its sittings are handed in."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from engine.commands.context import find_context
from engine.commands.journal import LogLine, log, log_lines
from engine.commands.options import by_option, course_option, json_option, store_option
from engine.commands.terminal import print_json, show_table
from engine.text.words import clean_line, count_noun


@click.command("publish")
@click.argument("quiz", metavar="[QUIZ]", required=False)
@click.option("--withdraw", is_flag=True, help="Take it off the site; what was answered is kept.")
@by_option
@json_option
@course_option
@store_option
def publish(quiz: str | None, withdraw: bool, by: str, as_json: bool, course_path: Path | None) -> None:
    """Put QUIZ (its name) on the site for the students for whom it was drawn, or list what is there.

    Students see it from now on, and can answer it from when course.yaml `opens` it.

    \b
    Examples:
      grade quiz publish l16 --course attention-2026
      grade quiz publish l16 --withdraw --course attention-2026
      grade quiz publish --course attention-2026
    """
    context = find_context(course_path)
    context.require_course()
    with context.open_store() as store:
        if quiz is not None and withdraw:
            with store.one_transaction():
                was_there = store.published.withdraw(quiz)
                if was_there:
                    log(context, store, "quiz.withdraw", quiz, by=by)
            text = f"{clean_line(quiz)} is {'no longer' if was_there else 'not'} on the site"
        elif quiz is not None:
            now = datetime.now(UTC)
            with store.one_transaction():
                done = store.published.publish(quiz, by, now)
                if done.at == now:  # the second time nothing changes
                    log(context, store, "quiz.publish", quiz, by=by, students=len(store.quizzes(quiz)))
            since = f"{context.local_text(done.at, with_zone=True)}, by {clean_line(done.by)}"
            text = f"{clean_line(quiz)} is on the site since {since}"
        else:
            text = ""
        published, names = store.published.all(), store.quiz_names()
    if as_json:
        print_json({name: published[name].at.isoformat() if name in published else None for name in names})
    elif text:
        click.echo(text)
    elif not names:
        click.echo("no quiz was drawn here\n  next: grade quiz new BLUEPRINT")
    else:
        rows = [
            [name, context.local_text(published[name].at) if name in published else "no"] for name in names
        ]
        show_table(["quiz", f"published ({context.zone_name})"], rows)


@click.command("close")
@click.argument("quiz")
@json_option
@course_option
@store_option
def close(quiz: str, as_json: bool, course_path: Path | None) -> int:
    """Hand in what students saved on the site in sittings of QUIZ whose end has passed.

    The site does so by itself while it runs; this is for when it doesn't. Nobody's time is cut short, and
    what is handed in already stays as it is.

    Exit code 0: all is handed in; 1: something couldn't be, and is tried again the next time.

    \b
    Example:
      grade quiz close l16 --course attention-2026
    """
    from engine.errors import SoftmarkError
    from engine.marks.site_quizzes import hand_in_overdue
    from engine.quiz.drawn_class import drawn_quizzes
    from engine.quiz.rules import now

    context = find_context(course_path)
    context.require_course()
    faults: list[str] = []
    students: list[str] = []
    with context.open_store() as store:
        drawn_quizzes(store, quiz)
        results = hand_in_overdue(
            store,
            context.policies(store),
            now(),
            bank=context.bank,
            mode=context.mode,
            secret=context.secret,
            names={quiz},
        )
        for overdue, result in results:
            if isinstance(result, SoftmarkError):
                faults.append(f"{overdue.quiz.student}: {result.what}")
            else:
                students.append(overdue.quiz.student)
                log_lines(context, store, [LogLine("quiz.closed", quiz, overdue.quiz.student)])
    if as_json:
        print_json({"quiz": quiz, "handed_in": students, "faults": faults})
    else:
        click.echo(f"{count_noun(len(students), 'sitting')} handed in")
        for fault in faults:
            click.echo(f"not handed in: {clean_line(fault, 500)}")
    return 1 if faults else 0
