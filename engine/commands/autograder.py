"""``grade autograder``: grade inside Gradescope.

``make`` packs the zip that Gradescope takes; Gradescope then calls ``results`` for every submission.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log_without_store
from engine.commands.options import CommandGroup, RegistryChoice, course_option, json_option
from engine.commands.terminal import number, print_json
from engine.errors import EngineError, InputError, UsageError
from engine.text.files import check_target, replace_text, replacing, write_errors

if TYPE_CHECKING:
    from engine.runs.gradescope import AutograderSettings, ItemGrade


@click.group("autograder", cls=CommandGroup)
def command() -> None:
    """Make an autograder for Gradescope, and write the results of a submission as it reads them.

    \b
    Example:
      grade autograder make softmax --out autograder.zip
    """


@command.command("make")
@click.argument("items", metavar="ITEM…", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The zip to write.")
@click.option(
    "--hidden",
    type=RegistryChoice("engine.runs.gradescope", "HIDDEN"),
    default="after_due_date",
    show_default=True,
    help="When students see the total, and the checks whose inputs are hidden from them.",
)
# Without T3: marks at that tier need --unsafe-local, which an autograder never has.
@click.option("--tier", type=click.Choice(["T1", "T2"]), help="Require this sandbox tier there.")
@json_option
@course_option
def make(
    items: tuple[str, ...],
    out: Path,
    hidden: str,
    tier: str | None,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Write an autograder for Gradescope that grades the code exercises ITEM….

    The zip holds the keys and Softmark itself: it is for Gradescope only, never for students.

    \b
    Example:
      grade autograder make softmax sdpa --out autograder.zip --course attention-2026
    """
    from engine.items.bank import REGISTRY_FILE
    from engine.runs.gradescope import AutograderContents, AutograderSettings, autograder_key, harness_zip

    step = "name a file in a folder that you may write to: --out FILE"
    with write_errors("the zip can't be written", out, next_step=step):
        check_target(out)
    context = find_context(course_path)
    course = context.course
    # An item named twice is graded once.
    exercises = tuple(dict.fromkeys(items))
    points = sum(_points(context, item) for item in exercises)
    # The course's own sentences for known mistakes; the built-in ones travel with Softmark.
    registry = course.problems / REGISTRY_FILE if course else None
    content = harness_zip(
        AutograderContents(
            settings=AutograderSettings(exercises, hidden, tier),
            title=course.title if course else "Gradescope",
            # Derived, not the secret itself: who takes the zip apart learns nothing of other plans.
            key=autograder_key(context.secret() if course else None, exercises),
            folders=[context.bank.path(item).parent for item in exercises],
            registry=registry if registry is not None and registry.is_file() else None,
        )
    )
    log_without_store(context, "export.autograder", ", ".join(exercises))
    with write_errors("the zip can't be written", out, next_step=step), replacing(out, private=True) as file:
        file.write(content)
    if as_json:
        summary = {"file": str(out), "items": list(exercises), "points": points, "hidden": hidden}
        print_json({**summary, "bytes": len(content)})
        return 0
    click.echo(f"{out}: {', '.join(exercises)}; {len(content) / 1e6:.1f} MB")
    click.echo("It holds the keys: upload it to Gradescope and give it to nobody else.")
    click.echo(
        f"  next: upload it under Configure Autograder, set Autograder points to {number(points)}, and try "
        "it there with a right and a wrong file"
    )
    return 0


def _points(context: CommandContext, item: str) -> float:
    spec = context.bank.load(item)
    if spec.kind != "code":
        raise UsageError(f"{item} isn't a code exercise", expected="a code exercise: grade list shows them")
    return spec.points


@command.command("results")
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    default=Path("/autograder"),
    show_default=True,
    help="Where Gradescope has laid out source, submission and results.",
)
def results(root: Path) -> int:
    """Grade /autograder/submission and write /autograder/results/results.json.

    The autograder in Gradescope calls this. Where the machine or Softmark is at fault, the file has a message
    and no score.

    Exit code 0: graded; 3: not graded.

    \b
    Example:
      grade autograder results --root /autograder
    """
    from engine.runs.gradescope import results_json, ungraded_json

    started = time.monotonic()
    file = root / "results" / "results.json"
    # Whatever happens from here on, even a kill, there is a file that says so.
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_text(file, ungraded_json())
    settings, grades = _grade(root)
    seconds = time.monotonic() - started
    for grade in grades:
        _show(grade)
    if any(grade.is_ungraded for grade in grades):
        replace_text(file, ungraded_json(grades, seconds=seconds))
        return 3
    replace_text(file, results_json(grades, hidden=settings.hidden, seconds=seconds))
    return 0


def _grade(root: Path) -> tuple[AutograderSettings, list[ItemGrade]]:
    from engine.runner import SandboxOptions
    from engine.runs.gradescope import SubmissionGrader, read_settings

    source = root / "source"
    try:
        settings = read_settings(source / "autograder.json")
        context = find_context(source / "course")
        for item in settings.items:
            context.bank.load(item)
    except InputError as error:  # `make` has packed these files: nothing that a student could correct
        raise EngineError(
            error.what, where=error.where, expected=error.expected, got=error.got, next_step=error.next_step
        ) from error
    with context.open_runner(SandboxOptions(settings.tier)) as runner:
        grader = SubmissionGrader(
            root, bank=context.bank, mode=context.mode, secret=context.secret(), runner=runner
        )
        return settings, [grader.grade(item) for item in settings.items]


def _show(grade: ItemGrade) -> None:
    # For the course's staff: students don't see what an autograder prints.
    if grade.report is None:
        click.echo(f"{grade.item}: {grade.problem}")
        return
    from engine.commands.report_text import show_report

    show_report(grade.report)
