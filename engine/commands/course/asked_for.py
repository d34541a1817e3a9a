"""``grade course requests`` and ``decide``: what students ask for on the site, decided without it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import find_context
from engine.commands.journal import log
from engine.commands.options import by_option, course_option, json_option, store_option
from engine.commands.terminal import print_json, show_table
from engine.errors import UsageError
from engine.text.words import clean_line

if TYPE_CHECKING:
    from engine.store.student_requests import StudentRequest


@click.command("requests")
@click.option("--all", "all_requests", is_flag=True, help="Also those that are decided or withdrawn.")
@json_option
@course_option
@store_option
def requests(all_requests: bool, as_json: bool, course_path: Path | None) -> None:
    """List what students ask for: another look at a mark, or more time.

    \b
    Example:
      grade course requests --course attention-2026
    """
    from engine.store.student_requests import RequestState

    context = find_context(course_path)
    context.require_course()
    with context.open_store() as store:
        entries = store.requests.all(None if all_requests else RequestState.OPEN)
    if as_json:
        print_json([_as_json(entry) for entry in entries])
    elif not entries:
        click.echo("no open requests")
    else:
        rows = [
            [
                str(entry.id),
                context.local_text(entry.at),
                entry.student,
                str(entry.kind),
                entry.subject,
                clean_line(entry.text, 200),
                str(entry.state),
            ]
            for entry in entries
        ]
        heading = f"asked ({context.zone_name})"
        show_table(["number", heading, "student", "kind", "about", "text", "state"], rows)


@click.command("decide")
@click.argument("number", type=int)
@click.option("--grant", is_flag=True, help="Grant it; an extension needs --days or --due.")
@click.option("--refuse", is_flag=True, help="Refuse it.")
@click.option("--answer", required=True, help="The answer to the student.")
@click.option("--days", type=click.IntRange(1, 1000), default=None, help="Number of extra days.")
@click.option("--due", default=None, help="New due date, such as 2026-11-20 or 2026-11-20T18:00.")
@by_option
@json_option
@course_option
@store_option
def decide(
    number: int,
    grant: bool,
    refuse: bool,
    answer: str,
    days: int | None,
    due: str | None,
    by: str,
    as_json: bool,
    course_path: Path | None,
) -> None:
    """Grant or refuse the request of that NUMBER; a granted extension counts at once.

    Granting a regrade promises another look: set the new mark with grade mark set.

    \b
    Examples:
      grade course decide 3 --grant --days 2 --answer "Get well soon."
      grade course decide 4 --refuse --answer "The key is right: weights sum to 1."
    """
    from engine.course.allowance_rules import rule_of
    from engine.store.allowances import Allowance, AllowanceKind
    from engine.store.student_requests import RequestKind

    if grant == refuse:
        raise UsageError("say whether the request is granted", expected="--grant or --refuse")
    context = find_context(course_path)
    context.require_course()
    now = datetime.now(UTC)
    with context.open_store() as store:
        request = store.requests.find(number)
        if request is None:
            raise UsageError(f"there is no request {number}", next_step="see: grade course requests")
        is_extension = grant and request.kind is RequestKind.EXTENSION
        if is_extension != (days is not None or due is not None):
            raise UsageError(
                "say how much more time is given" if is_extension else "this gives no more time",
                expected="--days N or --due DATE" if is_extension else "no --days and no --due",
            )
        allowance = None
        if is_extension:
            allowance = Allowance(
                request.student,
                AllowanceKind.DEADLINE,
                by,
                now,
                request.subject,
                due,
                days,
                reason=f"request {number}",
            )
            rule_of(allowance)  # refuses a date that there isn't before anything is stored
        with store.one_transaction():
            decision = store.requests.decide(
                number, granted=grant, answer=answer, by=by, now=now, allowance=allowance
            )
            log(
                context,
                store,
                f"request.{decision.state}",
                decision.subject,
                by=by,
                student=decision.student,
                request=number,
                days=days,
                due=due,
            )
    if as_json:
        print_json(_as_json(decision))
    else:
        click.echo(f"{number}: {decision.state}; the student reads the answer on the site")


def _as_json(entry: StudentRequest) -> dict[str, object]:
    return {
        "number": entry.id,
        "student": entry.student,
        "kind": str(entry.kind),
        "about": entry.subject,
        "text": entry.text,
        "asked": entry.at.isoformat(),
        "state": str(entry.state),
        "answer": entry.answer,
        "by": entry.by,
        "decided": entry.decided and entry.decided.isoformat(),
    }
