"""What the commands share that take in what a class handed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.course import Intake, IntakeProblem, Roster

__all__ = ["LAYOUT_NAMES", "collected", "layout_option", "refuses_unlisted", "tell_problems"]

F = TypeVar("F", bound=Callable[..., Any])

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
    workplace: Workplace,
    source: Path,
    workdir: Path,
    *,
    roster: Roster | None,
    item: str | None,
    layout: str,
) -> Intake:
    """Return what a class handed in, with the faults of the course's own files among the problems.

    A :class:`UsageError` where all code is for an item that is no code exercise.
    """
    from engine.intake import collect

    items = workplace.bank.code_ids()
    if item is not None:
        workplace.bank.path(item)
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
        refuse_unlisted=refuses_unlisted(workplace),
        layout=None if layout == "auto" else layout,
    )
    rules = workplace.course.rule_problems() if workplace.course else ()
    faults = (*rules, *(roster.problems() if roster else ()))
    return replace(intake, problems=(*faults, *intake.problems))


def refuses_unlisted(workplace: Workplace) -> bool:
    """Return whether the course grades nobody who isn't in its roster."""
    course = workplace.course
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
