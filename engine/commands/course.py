"""``grade course``: what concerns a course as a whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import CommandGroup, course_option, json_option, store_option
from engine.errors import UsageError
from engine.text.words import count_noun

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.course import Course
    from engine.errors import Diagnostic

__all__ = ["check", "command", "missing_package_faults"]


# ----------------------------------------------------------------------------------------------------
# ``grade course check``: rules that contradict one another, the roster, or the quizzes.


@click.command("check")
@json_option
@course_option
@store_option
def check(as_json: bool, course_path: Path | None) -> int:
    """Find what can't be meant in course.yaml and the roster, each with its line.

    Dates in the wrong order, names that nothing is called, extensions that change nothing, groups that
    drop everything, weights that aren't 100 in all, quizzes with another deadline, packages that aren't
    installed. Nothing is changed.

    Exit code 0: nothing found; 1: there are warnings; 2: there are faults, and with faults in the rules
    about marks `grade batch` applies none of these.

    \b
    Example:
      grade course check --course attention-2026
    """
    from engine.commands.context import find_context

    context = find_context(course_path)
    if context.course is None:
        raise UsageError("there is no course here", next_step="name its folder: --course FOLDER")
    faults = _faults(context.course)
    # Rules that can't be read can't contradict anything.
    warnings = missing_package_faults(context.course)
    if not context.course.rule_faults:
        warnings += _warnings(context, context.course)
    if as_json:
        found = {"faults": [_as_json(f) for f in faults], "warnings": [_as_json(w) for w in warnings]}
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        _tell(faults, warnings)
    return 2 if faults else 1 if warnings else 0


def _faults(course: Course) -> list[Diagnostic]:
    return [*course.rule_faults, *(fault.diagnostic for fault in course.roster(tolerant=True).faults)]


def missing_package_faults(course: Course) -> list[Diagnostic]:
    """Return a warning for each package that course.yaml offers and that isn't installed."""
    from engine.errors import Diagnostic
    from engine.sandbox.bwrap import missing_packages
    from engine.text.files import read_text

    lines = read_text(course.settings_file).splitlines()
    place = next((number for number, line in enumerate(lines, 1) if line.startswith("packages:")), 1)
    return [
        Diagnostic(
            str(course.settings_file),
            place,
            1,
            f"the package {name} isn't installed here, so code that needs it can't be graded",
            lines[place - 1] if lines else "",
        )
        for name in missing_packages(course.settings.packages or ())
    ]


def _warnings(context: CommandContext, course: Course) -> list[Diagnostic]:
    from engine.marks.check import facts_of, find_contradictions

    with context.open_store() as store:
        facts = facts_of(course, store, context.bank)
    return find_contradictions(course.settings_file, course.policies, facts)


def _tell(faults: list[Diagnostic], warnings: list[Diagnostic]) -> None:
    from engine.text.escape import clean

    for kind, found in (("fault", faults), ("warning", warnings)):
        for one in found:
            head, *source = one.lines()
            click.echo(clean(f"{kind}: {head}", 5000))
            for line in source:
                click.echo(clean(line, 5000))
    told = [
        f"{count_noun(len(found), kind)}"
        for kind, found in (("fault", faults), ("warning", warnings))
        if found
    ]
    click.echo(", ".join(told) if told else "nothing to mind")


def _as_json(one: Diagnostic) -> dict[str, object]:
    from engine.text.escape import clean

    return {
        "file": one.file,
        "line": one.line,
        "column": one.column,
        "message": clean(one.message, 2000),
    }


@click.group("course", cls=CommandGroup)
def command() -> None:
    """Look after a course.

    \b
    Example:
      grade course check --course attention-2026
    """


command.add_command(check)
