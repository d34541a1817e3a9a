"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.course import Roster
    from engine.hand_ins import IntakeProblem, IntakeResult

__all__ = [
    "LAYOUT_NAMES",
    "CommandGroup",
    "check_student",
    "checked_store",
    "collected",
    "complete_items",
    "course_option",
    "decider",
    "device_option",
    "item_argument",
    "json_option",
    "layout_option",
    "refuses_unlisted",
    "store_option",
    "store_wanted",
    "tell_problems",
    "write_commands",
]

F = TypeVar("F", bound=Callable[..., Any])

_STORE = "softmark.store"
_STORE_VARIABLE = "SOFTMARK_STORE"


class CommandGroup(click.Group):
    """A group whose help says the whole first sentence of each command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        write_commands(formatter, "Commands", commands)


def write_commands(
    formatter: click.HelpFormatter, heading: str, commands: Sequence[tuple[str, click.Command | None]]
) -> None:
    """Write one section of a help text: name and first sentence of each command, not cut."""
    rows = [(name, command.get_short_help_str(limit=1_000)) for name, command in commands if command]
    with formatter.section(heading):
        formatter.write_dl(rows)


def json_option(function: F) -> F:
    """Add ``--json``: one JSON document on standard output, nothing else."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")(function)


def course_option(function: F) -> F:
    """Add ``--course``: the course folder; found upwards from here when left out."""
    return click.option(
        "--course",
        "course_path",
        type=click.Path(path_type=Path),
        default=None,
        help="Course folder (default: the one that holds this folder, else practice).",
    )(function)


def store_option(function: F) -> F:
    """Add ``--store``: another store than the course's; :func:`store_wanted` tells it."""
    return click.option(
        "--store",
        metavar="URL|FILE",
        expose_value=False,
        callback=_keep_store,
        help=f"Store instead of the course's: postgresql://… or a file (also by {_STORE_VARIABLE}).",
    )(function)


def _keep_store(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta[_STORE] = checked_store(value, "--store")


def checked_store(value: str, name: str) -> str:
    """Return a store's address, or raise a :class:`UsageError` about what named it."""
    scheme, mark, _ = value.partition("://")
    if not value or (mark and scheme.partition("+")[0] != "postgresql"):
        # The address isn't shown: there may be a password in it.
        raise UsageError(f"{name} can't be used", expected="a file, or postgresql://user@host/name")
    return value


def store_wanted(*, in_course: bool) -> str | None:
    """Return the store that ``--store`` names, or in a course ``SOFTMARK_STORE``; None for the usual one."""
    context = click.get_current_context(silent=True)
    named: str | None = None if context is None else context.meta.get(_STORE)
    if named is not None or not in_course:
        return named
    value = os.environ.get(_STORE_VARIABLE)
    return checked_store(value, _STORE_VARIABLE) if value else None


def complete_items(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Return the ids that begin with what is typed, for the shell's completion."""
    from engine.commands.context import find_context

    try:
        return [item for item in find_context(None).bank.ids() if item.startswith(typed)]
    except Exception:  # a completion that fails must not write into somebody's command line
        return []


def item_argument(function: F) -> F:
    """Add ``ITEM``: the id of an item, which the shell can complete."""
    return click.argument("item", shell_complete=complete_items)(function)


def device_option(function: F) -> F:
    """Add ``--device``: where a torch submission's tensors are."""
    return click.option(
        "--device",
        type=click.Choice(["cpu", "cuda"]),
        default="cpu",
        show_default=True,
        help="Where tensors are; cuda is a weaker tier. Files that use numpy are graded on the CPU.",
    )(function)


def check_student(student: str) -> None:
    """Refuse an id that nobody could read or type again."""
    from engine.text.escape import clean_line

    if not student or clean_line(student, 100) != student:
        raise UsageError(
            "--student can't be used", expected="an id of 1 to 100 characters", got=repr(student[:100])
        )


# ----------------------------------------------------------------------------------------------------
# Who is at the keyboard, for records of who decided something.


def decider(by: str | None) -> str:
    """Return the name that ``--by`` gives, or else this account's."""
    import getpass

    from engine.errors import UsageError
    from engine.text.escape import clean_line

    if by is None:
        try:
            return getpass.getuser()
        except (OSError, KeyError):  # a container without that account
            return "unknown"
    if not by.strip() or clean_line(by, 100) != by:
        raise UsageError("--by can't be used", expected="a name of 1 to 100 characters", got=repr(by[:100]))
    return by


# ----------------------------------------------------------------------------------------------------
# What the commands share that take in what a class handed in.

# The keys of engine.intake.layouts.LAYOUTS, which isn't loaded for `--help`.
LAYOUT_NAMES = ("gradescope", "moodle", "canvas", "classroom", "plain")


def layout_option(function: F) -> F:
    """Add ``--layout``: which system's download it is."""
    return click.option(
        "--layout",
        type=click.Choice(["auto", *LAYOUT_NAMES]),
        default="auto",
        show_default=True,
        help="Which system's download it is; auto finds it out.",
    )(function)


def collected(
    context: CommandContext,
    source: Path,
    workdir: Path,
    *,
    roster: Roster | None,
    item: str | None,
    layout: str,
) -> IntakeResult:
    """Return what a class handed in, with the faults of the course's own files among the problems.

    A :class:`UsageError` where all code is for an item that is no code exercise.
    """
    from engine.intake import collect

    items = context.bank.code_ids()
    if item is not None:
        context.bank.path(item)
        if item not in items:
            raise UsageError(
                f"{item} is no code exercise",
                expected="--item with one of: " + ", ".join(items),
                next_step="leave --item out: quiz files name their quiz themselves",
            )
    intake = collect(
        source,
        workdir,
        items=items,
        roster=roster,
        only_item=item,
        refuse_unlisted=refuses_unlisted(context),
        layout=None if layout == "auto" else layout,
    )
    rules = context.course.rule_problems() if context.course else ()
    faults = (*rules, *(roster.problems() if roster else ()))
    return replace(intake, problems=(*faults, *intake.problems))


def refuses_unlisted(context: CommandContext) -> bool:
    """Return whether the course grades nobody who isn't in its roster."""
    course = context.course
    return course is not None and course.settings.policies.unlisted_students == "refuse"


def _head(problem: IntakeProblem) -> str:
    if problem.noted:
        return "note"
    return "not joined" if problem.unjoined else "graded in part" if problem.partly else "not graded"


def tell_problems(problems: Sequence[IntakeProblem]) -> None:
    """Print what a person has to look at, a line each."""
    for problem, after in zip_longest(problems, problems[1:]):
        click.echo(f"{_head(problem)}: {problem.where}: {problem.message}")
        # Of many rows with the same cure only the last says it.
        if problem.next_step and (after is None or after.next_step != problem.next_step):
            click.echo(f"  next: {problem.next_step}")
