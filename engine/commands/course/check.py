"""``grade course check``: contradictions in a course's rules, its roster and its allowances."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.options import course_option, json_option, store_option
from engine.commands.terminal import print_json
from engine.errors import CourseError, Diagnostic
from engine.text.files import read_text
from engine.text.words import clean, count_noun

if TYPE_CHECKING:
    from engine.course import Course


@click.command("check")
@json_option
@course_option
@store_option
def check(as_json: bool, course_path: Path | None) -> int:
    """Find contradictions in course.yaml, the roster and the staff file, each with its line.

    Dates in the wrong order, names that no quiz or exercise has, extensions that change nothing, groups that
    drop everything, weights that don't add up to 100, quizzes with another deadline, packages that aren't
    installed, invalid email addresses, and allowances of single students that have no effect.
    Nothing is changed.

    Exit code 0: nothing found; 1: there are warnings; 2: there are faults. With faults in the rules about
    marks, `grade batch` applies none of these rules.

    \b
    Example:
      grade course check --course attention-2026
    """
    context = find_context(course_path)
    course = context.require_course()
    faults = [
        *course.rule_faults,
        *(fault.diagnostic for fault in course.roster(tolerant=True).faults),
        *staff_faults(course),
    ]
    warnings = [*missing_package_warnings(course), *_address_warnings(course)]
    # Rules that can't be read can't contradict anything.
    if not course.rule_faults:
        warnings += _contradictions(context, course)
    if as_json:
        print_json({"faults": [_as_json(f) for f in faults], "warnings": [_as_json(w) for w in warnings]})
    else:
        _show(faults, warnings)
    # Faults stop a batch from applying rules, warnings stop nothing.
    return 2 if faults else 1 if warnings else 0


def staff_faults(course: Course) -> list[Diagnostic]:
    """Return the faults of staff.csv."""
    try:
        course.people()
    except CourseError as error:
        return list(error.diagnostics) or [Diagnostic(error.where or "", 1, 1, error.what)]
    return []


def _address_warnings(course: Course) -> list[Diagnostic]:
    from engine.course.people import STAFF_FILE, address_warnings

    warnings: list[Diagnostic] = []
    for path in (course.folder / "roster.csv", course.folder / STAFF_FILE):
        try:
            warnings += address_warnings(path) if path.exists() else []
        except CourseError:  # reported as a fault
            continue
    return warnings


def missing_package_warnings(course: Course) -> list[Diagnostic]:
    """Return a warning for each package that course.yaml offers and that isn't installed."""
    from engine.sandbox.bwrap import missing_packages

    lines = read_text(course.settings_file).splitlines()
    # At the line that offers the packages, where somebody will change it.
    number = next((number for number, line in enumerate(lines, 1) if line.startswith("packages:")), 1)
    return [
        Diagnostic(
            str(course.settings_file),
            number,
            1,
            f"the package {name} isn't installed here, so code that needs it can't be graded",
            lines[number - 1] if lines else "",
        )
        for name in missing_packages(course.settings.packages or ())
    ]


def _contradictions(context: CommandContext, course: Course) -> list[Diagnostic]:
    from engine.marks.check import allowance_contradictions, facts_of, find_contradictions

    # Names of quizzes and students are known to the store, also those that the roster has lost.
    with context.open_store() as store:
        facts = facts_of(course, store, context.bank)
        allowances = store.allowances.current()
    return [
        *find_contradictions(course.settings_file, course.policies, facts),
        *allowance_contradictions(store.where, course.policies, allowances, facts),
    ]


def _show(faults: list[Diagnostic], warnings: list[Diagnostic]) -> None:
    kinds = (("fault", faults), ("warning", warnings))
    for kind, diagnostics in kinds:
        for diagnostic in diagnostics:
            click.echo(clean(f"{kind}: " + "\n".join(diagnostic.lines()), 20_000))
    counts = [count_noun(len(diagnostics), kind) for kind, diagnostics in kinds if diagnostics]
    click.echo(", ".join(counts) or "nothing to report")


def _as_json(diagnostic: Diagnostic) -> dict[str, object]:
    place = {"file": diagnostic.file, "line": diagnostic.line, "column": diagnostic.column}
    return {**place, "message": clean(diagnostic.message, 2000)}
