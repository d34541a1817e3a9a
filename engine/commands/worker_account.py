"""``grade worker allow``, ``withdraw`` and ``accounts``: which database roles may grade for which course.

They are commands of ``grade worker`` because its address names the role: whoever starts a worker on another
machine asks there as whom.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log_without_store
from engine.commands.options import course_option, json_option, store_option
from engine.commands.terminal import print_json, show_table
from engine.errors import UsageError
from engine.text.words import clean_line, count_noun

if TYPE_CHECKING:
    from engine.store.database import Database


def _need_cluster() -> None:
    from engine.commands.worker import need_cluster  # which imports this module for its commands

    need_cluster()


@contextmanager
def _open(context: CommandContext) -> Iterator[Database]:
    from engine.cluster.queue_tables import make_queue, open_queue_database

    place = str(context.queue_place)
    if "://" not in place:
        raise UsageError(
            "accounts for workers need a queue on a PostgreSQL server, and the store is a file",
            where=place,
            next_step="name one in course.yaml (queue: postgresql://…, see docs/scaling.md)",
        )
    with closing(open_queue_database(place)) as database:
        make_queue(database)
        yield database


@click.command("allow")
@click.argument("role")
@click.option(
    "--drawing",
    is_flag=True,
    help="It may draw the course's quizzes, too: it sees the keys of their items. Without: no longer.",
)
@course_option
@store_option
def allow(role: str, drawing: bool, course_path: Path | None) -> None:
    """Let the database role ROLE grade a course's programs, and do nothing else in its database.

    Make the role first (`createuser --pwprompt ROLE`). It sees the programs of this course, under pseudonyms,
    and the files of its code exercises, and adds reports; it can't read the store, change what was handed
    over, or see other courses. It takes the account of the queue's owner: what `grade batch` uses.

    With --drawing it draws for `grade quiz new --cluster`, too. Then its machine knows the answers, and
    students read what it draws: docs/security-model.md says what is checked.

    \b
    Examples:
      grade worker allow grader1 --course attention-2026
      grade worker allow grader1 --drawing --course attention-2026
    """
    _need_cluster()
    from engine.cluster.course_line import CourseLine
    from engine.cluster.fingerprint import course_fingerprint
    from engine.cluster.worker_accounts import allow_worker

    context = find_context(course_path)
    context.require_course()
    fingerprint = course_fingerprint(context.secret())
    with _open(context) as database:
        # It may hand its first work over later.
        CourseLine(database).register_course(fingerprint, context.title)
        allow_worker(database, role, fingerprint, drawing=drawing)
    log_without_store(context, "worker.allow", clean_line(role), drawing=drawing)
    more = " and draw its quizzes" if drawing else ""
    click.echo(f"{clean_line(role)} may grade for {clean_line(context.title)}{more}, and nothing else")


@click.command("withdraw")
@click.argument("role")
@click.option("--all", "everywhere", is_flag=True, help="For all courses of the queue, not only this one.")
@course_option
@store_option
def withdraw(role: str, everywhere: bool, course_path: Path | None) -> None:
    """Let the database role ROLE grade a course's programs no longer; its workers are cut off at once.

    A role that may grade for no course has no right in the database any more, and can be dropped
    (`dropuser ROLE`).

    \b
    Examples:
      grade worker withdraw grader1 --course attention-2026
      grade worker withdraw grader1 --all --course attention-2026
    """
    _need_cluster()
    from engine.cluster.fingerprint import course_fingerprint
    from engine.cluster.worker_accounts import withdraw_worker

    context = find_context(course_path)
    context.require_course()
    with _open(context) as database:
        fingerprint = None if everywhere else course_fingerprint(context.secret())
        count = withdraw_worker(database, role, fingerprint)
    log_without_store(context, "worker.withdraw", clean_line(role), courses=count)
    click.echo(f"{clean_line(role)} may no longer grade for {count_noun(count, 'course')}")


@click.command("accounts")
@json_option
@course_option
@store_option
def accounts(as_json: bool, course_path: Path | None) -> None:
    """List the database roles that may grade, and for which courses.

    The queue's owner may grade for all of them, and isn't listed.

    \b
    Example:
      grade worker accounts --course attention-2026
    """
    _need_cluster()
    from engine.cluster.worker_accounts import worker_roles

    with _open(find_context(course_path)) as database:
        roles = worker_roles(database)
    if as_json:
        names = ("role", "course", "title", "drawing")
        print_json([dict(zip(names, row, strict=True)) for row in roles])
        return
    if not roles:
        click.echo("no role for workers; make one with: createuser --pwprompt ROLE; grade worker allow ROLE")
        return
    show_table(
        ("role", "may grade for", "draws quizzes"),
        [
            (clean_line(role), clean_line(title), "yes" if drawing else "no")
            for role, _, title, drawing in roles
        ],
    )
