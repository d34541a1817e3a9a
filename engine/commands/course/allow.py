"""``grade course allow``: more time, another deadline or an excuse for one student."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log
from engine.commands.options import by_option, course_option, json_option, store_option
from engine.commands.terminal import print_json, show_table
from engine.errors import UsageError
from engine.text.words import clean_line, count_noun, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.store import Store
    from engine.store.allowances import Allowance


@click.command("allow")
@click.argument("student")
@click.argument("assignment", required=False)
@click.option("--due", default=None, help="New due date, such as 2026-11-20 or 2026-11-20T18:00.")
@click.option("--days", type=click.IntRange(1, 1000), default=None, help="Number of extra days.")
@click.option("--excuse", is_flag=True, help="Leave the assignment out for this student.")
@click.option(
    "--extra-time",
    type=click.FloatRange(0, 1000, min_open=True),
    default=None,
    metavar="PERCENT",
    help="Extra time in sittings with a time limit.",
)
@click.option("--reason", default="", help="Why, for you and your colleagues.")
@by_option
@json_option
@course_option
@store_option
def allow(
    student: str,
    assignment: str | None,
    due: str | None,
    days: int | None,
    excuse: bool,
    extra_time: float | None,
    reason: str,
    by: str,
    as_json: bool,
    course_path: Path | None,
) -> None:
    """Give STUDENT more time for ASSIGNMENT (a quiz or an exercise), or an excuse from it.

    It counts like an entry under `extensions`, `excused` or `extra_time` of course.yaml, and at once, in
    running sittings too. Without an assignment, it is for all of them.

    \b
    Examples:
      grade course allow 007 l16 --days 3 --reason "ill"
      grade course allow ada --extra-time 25
      grade course allow ada softmax --excuse
    """
    from engine.course.allowance_rules import rule_of
    from engine.store.allowances import Allowance, AllowanceKind

    chosen = [name for name, value in _choices(due, days, excuse, extra_time) if value]
    if len(chosen) != 1:
        raise UsageError(
            "say what to allow" if not chosen else f"{' and '.join(chosen)} are two allowances",
            expected="one of --due, --days, --excuse and --extra-time",
        )
    context = find_context(course_path)
    context.require_course()
    kind = AllowanceKind.EXCUSE if excuse else AllowanceKind.TIME if extra_time else AllowanceKind.DEADLINE
    with context.open_store() as store:
        name = _known_student(context, store, student)
        _check_assignment(context, store, assignment)
        allowance = Allowance(name, kind, by, datetime.now(UTC), assignment, due, days, extra_time, reason)
        rule_of(allowance)  # refuses a date that there isn't before anything is stored
        with store.one_transaction():
            allowance = store.allowances.add(allowance)
            log(
                context,
                store,
                "allowance.add",
                assignment or "all assignments",
                by=by,
                student=name,
                kind=str(kind),
                due=due,
                days=days,
                percent=extra_time,
                reason=allowance.reason or None,
            )
    if as_json:
        print_json(_as_json(allowance))
    else:
        click.echo(f"{allowance.id}: {clean_line(_sentence(allowance), 500)}")
        click.echo(f"  to withdraw it: grade course withdraw {allowance.id}")


def _choices(
    due: str | None, days: int | None, excuse: bool, extra_time: float | None
) -> list[tuple[str, object]]:
    return [("--due", due), ("--days", days), ("--excuse", excuse), ("--extra-time", extra_time)]


def _known_student(context: CommandContext, store: Store, student: str) -> str:
    """Return the id of a student in the roster, or of one who has left it; names aren't taken for ids."""
    from engine.course.person_search import near_people
    from engine.course.students import Student

    known = dict(context.roster.by_id) if context.roster else {}
    others = {quiz.student for quiz in store.quizzes(student=student)} | set(store.students(context.mode))
    if student not in known and student not in others:
        people = [*known.values(), *(Student(other) for other in sorted(others - set(known)))]
        raise UsageError(
            f"there is no student '{clean_line(student)}'" + near_people(student, people),
            expected="an id of roster.csv",
        )
    return student


def _check_assignment(context: CommandContext, store: Store, assignment: str | None) -> None:
    known = {*store.quiz_names(), *context.bank.code_ids(), *context.require_course().policies.named}
    if assignment is not None and assignment not in known:
        raise UsageError(
            f"there is no quiz or code exercise '{clean_line(assignment)}'"
            + did_you_mean(assignment, sorted(known))
        )


@click.command("allowances")
@click.option("--student", default=None, help="Only this student's.")
@click.option("--history", is_flag=True, help="Also those that were withdrawn.")
@json_option
@course_option
@store_option
def allowances(student: str | None, history: bool, as_json: bool, course_path: Path | None) -> None:
    """List the allowances of single students; entries of course.yaml aren't listed.

    \b
    Example:
      grade course allowances --student 007
    """
    context = find_context(course_path)
    context.require_course()
    with context.open_store() as store:
        entries = store.allowances.history(student) if history else store.allowances.current(student)
    if as_json:
        print_json([_as_json(entry) for entry in entries])
    elif not entries:
        click.echo("no allowances here; course.yaml may have entries of its own")
    else:
        _show(entries, context)


def _show(entries: Sequence[Allowance], context: CommandContext) -> None:
    rows = [
        [
            str(entry.id),
            entry.student,
            entry.assignment or "all",
            _what(entry),
            entry.reason,
            entry.by,
            context.local_text(entry.at),
            context.local_text(entry.withdrawn),
        ]
        for entry in entries
    ]
    zone = context.zone_name
    heads = [
        "number",
        "student",
        "assignment",
        "allowed",
        "reason",
        "by",
        f"at ({zone})",
        f"withdrawn ({zone})",
    ]
    columns = [index for index in range(len(heads)) if any(row[index] for row in rows)]
    show_table([heads[i] for i in columns], [[row[i] for i in columns] for row in rows])


@click.command("withdraw")
@click.argument("number", type=int)
@json_option
@course_option
@store_option
def withdraw(number: int, as_json: bool, course_path: Path | None) -> None:
    """Withdraw the allowance with that number; marks are again as they are without it.

    \b
    Example:
      grade course withdraw 3
    """
    context = find_context(course_path)
    context.require_course()
    now = datetime.now(UTC)
    with context.open_store() as store, store.one_transaction():
        entry = store.allowances.withdraw(number, now)
        if entry.withdrawn == now:  # the second time nothing changes
            subject = entry.assignment or "all assignments"
            log(context, store, "allowance.withdraw", subject, student=entry.student)
    if as_json:
        print_json(_as_json(entry))
    else:
        click.echo(f"withdrawn: {clean_line(_sentence(entry), 500)}")


def _what(entry: Allowance) -> str:
    if entry.due is not None:
        return f"due {entry.due}"
    if entry.days is not None:
        return count_noun(entry.days, "extra day")
    return "excused" if entry.percent is None else f"{entry.percent:g} % more time"


def _sentence(entry: Allowance) -> str:
    return f"{entry.student}, {entry.assignment or 'all assignments'}: {_what(entry)}"


def _as_json(entry: Allowance) -> dict[str, object]:
    return {
        "number": entry.id,
        "student": entry.student,
        "assignment": entry.assignment,
        "kind": str(entry.kind),
        "due": entry.due,
        "days": entry.days,
        "percent": entry.percent,
        "reason": entry.reason,
        "by": entry.by,
        "at": entry.at.isoformat(),
        "withdrawn": entry.withdrawn and entry.withdrawn.isoformat(),
    }
