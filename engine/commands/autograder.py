"""``grade autograder``: grade inside Gradescope."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import CommandGroup, course_option, json_option
from engine.errors import EngineError, InputError, SubmissionError, UsageError

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.runner import Runner
    from engine.runs.gradescope import AutograderSettings, ItemGrade

__all__ = ["command", "make", "results"]


# ----------------------------------------------------------------------------------------------------
# ``grade autograder results``: grade what Gradescope has laid out, and write ``results.json``.


@click.command("results")
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    default=Path("/autograder"),
    show_default=True,
    help="Where Gradescope has laid out source, submission and results.",
)
def results(root: Path) -> int:
    """Grade /autograder/submission and write /autograder/results/results.json.

    An autograder calls this by itself. Where the machine or Softmark is at fault, the file has a message and
    no score.

    Exit code 0: graded; 3: not graded.

    \b
    Example:
      grade autograder results --root /autograder
    """
    from engine.runs.gradescope import results_json, ungraded_json
    from engine.text.files import replace_text

    begun = time.monotonic()
    file = root / "results" / "results.json"
    # Whatever happens from here on, there is a file that says so.
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_text(file, ungraded_json())
    settings, grades = _grade(root)
    seconds = time.monotonic() - begun
    for grade in grades:
        _tell(grade)
    if any(grade.is_ungraded for grade in grades):
        replace_text(file, ungraded_json(grades, seconds=seconds))
        return 3
    replace_text(file, results_json(grades, hidden=settings.hidden, seconds=seconds))
    return 0


def _grade(root: Path) -> tuple[AutograderSettings, list[ItemGrade]]:
    from engine.commands.context import find_context
    from engine.runner import SandboxOptions
    from engine.runs.gradescope import read_settings

    source = root / "source"
    try:
        settings = read_settings(source / "autograder.json")
        context = find_context(source / "course")
        for item in settings.items:
            context.bank.load(item)
    except InputError as error:  # what we have packed ourselves: nothing that a student could mend
        raise EngineError(
            error.what, where=error.where, expected=error.expected, got=error.got, next_step=error.next_step
        ) from error
    with context.open_runner(SandboxOptions(settings.tier)) as runner:
        grader = _Grader(context, root, runner)
        return settings, [grader.grade(item) for item in settings.items]


class _Grader:
    """Grades the exercises of one submission.

    Parameters
    ----------
    context : CommandContext
    root : Path
    runner : Runner
    """

    def __init__(self, context: CommandContext, root: Path, runner: Runner) -> None:
        from engine.runs import CodeExercises

        self._bank = context.bank
        self._folder = _only_folder(root / "submission")
        self._runner = runner
        # Another plan for each submission: students see feedback between them. The same one when it is rerun.
        secret = hmac.new(context.secret(), _identity(root), hashlib.sha256).digest()
        self._code = CodeExercises(self._bank, secret=secret, mode=context.mode)

    def grade(self, item: str) -> ItemGrade:
        """Return what became of one exercise."""
        from engine.intake import read_submission
        from engine.items import CodeAnswer
        from engine.runs.gradescope import ItemGrade

        spec = self._bank.load(item)
        answer = spec.answer
        assert isinstance(answer, CodeAnswer)  # `grade autograder make` packs nothing else
        hidden = frozenset(check.id for check in answer.checks if not check.public)
        try:
            submission = read_submission(self._folder, answer.function)
        except SubmissionError as error:
            return ItemGrade(item, spec.points, None, problem=self._told(error))
        report = self._code.grade(item, submission, self._runner, "")
        return ItemGrade(item, spec.points, report, hidden, submission.sha256)

    def _told(self, error: SubmissionError) -> str:
        """Return what is wrong with a hand-in; the folder that it lies in here says nothing to a student."""
        where = error.where if error.where and not error.where.startswith(str(self._folder)) else ""
        told = [f"{where}: {error.what}" if where else error.what]
        told += [f"expected: {error.expected}"] if error.expected else []
        return "\n".join(told + ([f"got: {error.got}"] if error.got else []))


def _only_folder(folder: Path) -> Path:
    """Return the folder that holds the files: repositories and zips put them into one of their own."""
    try:
        entries = [path for path in folder.iterdir() if not path.name.startswith((".", "__MACOSX"))]
    except OSError:
        return folder  # reading it will say why
    lone = entries[0] if len(entries) == 1 else folder
    return lone if lone.is_dir() and not lone.is_symlink() else folder


def _identity(root: Path) -> bytes:
    """Return what tells this submission from others, as Gradescope says it."""
    try:
        data = json.loads((root / "submission_metadata.json").read_text(encoding="utf-8"))
        return json.dumps([data.get("id"), data.get("created_at")]).encode()
    except (OSError, ValueError, AttributeError):
        return b"unknown"


def _tell(grade: ItemGrade) -> None:
    """Say to the course's staff, who alone see this, what became of an exercise."""
    if grade.report is None:
        click.echo(f"{grade.item}: {grade.problem}")
        return
    from engine.commands.render import show_report

    show_report(grade.report)


# ----------------------------------------------------------------------------------------------------
# ``grade autograder make``: the zip that Gradescope takes.


@click.command("make")
@click.argument("items", metavar="ITEM…", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The zip to write.")
@click.option(
    "--hidden",
    type=click.Choice(["after_due_date", "after_published", "visible"]),
    default="after_due_date",
    show_default=True,
    help="When students see the checks whose inputs they aren't shown, and the total.",
)
@click.option("--tier", type=click.Choice(["T1", "T2"]), default=None, help="Demand this sandbox tier there.")
@json_option
@course_option
def make(
    items: tuple[str, ...], out: Path, hidden: str, tier: str | None, as_json: bool, course_path: Path | None
) -> int:
    """Write an autograder for Gradescope that grades the code exercises ITEM….

    The zip holds the keys and Softmark itself: it is for Gradescope only, never for students.

    \b
    Example:
      grade autograder make softmax sdpa --out autograder.zip --course attention-2026
    """
    from engine.commands.context import find_context
    from engine.items.misconceptions import REGISTRY_FILE
    from engine.runs.gradescope import AutograderContents, AutograderSettings, harness_zip
    from engine.text.files import replacing

    context = find_context(course_path)
    course = context.course
    wanted = tuple(dict.fromkeys(items))
    points = sum(_points(context, item) for item in wanted)
    own = course.problems / REGISTRY_FILE if course else None
    packed = harness_zip(
        AutograderContents(
            settings=AutograderSettings(wanted, hidden, tier),
            title=course.title if course else "Gradescope",
            key=_key(context, wanted),
            folders=[context.bank.path(item).parent for item in wanted],
            registry=own if own is not None and own.is_file() else None,
        )
    )
    try:
        with replacing(out, private=True) as file:
            file.write(packed)
    except OSError as error:
        raise UsageError(
            "the zip can't be written",
            where=str(out),
            got=error.strerror or str(error),
            next_step="name a file in a folder that you may write to: --out FILE",
        ) from error
    if as_json:
        told = {
            "file": str(out),
            "items": list(wanted),
            "points": points,
            "hidden": hidden,
            "bytes": len(packed),
        }
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return 0
    from engine.text.words import plain_points

    click.echo(f"{out}: {', '.join(wanted)}; {len(packed) / 1e6:.1f} MB")
    click.echo("It holds the keys: give it to nobody but Gradescope.")
    click.echo(
        f"  next: upload it under Configure Autograder, set Autograder points to "
        f"{plain_points(points)}, and try "
        "it there with a right and a wrong file"
    )
    return 0


def _points(context: CommandContext, item: str) -> float:
    """Return an exercise's points; a :class:`UsageError` if it is no code exercise."""
    spec = context.bank.load(item)
    if spec.kind != "code":
        raise UsageError(f"{item} is no code exercise", expected="code exercises only: see grade list")
    return spec.points


def _key(context: CommandContext, items: tuple[str, ...]) -> bytes:
    """Return the autograder's key: of a course always the same, and no way back to the course's secret."""
    import hashlib
    import hmac
    import secrets

    if context.course is None:
        return secrets.token_bytes(32)
    message = json.dumps(["autograder", sorted(items)]).encode("ascii")
    return hmac.new(context.secret(), message, hashlib.sha256).digest()


@click.group("autograder", cls=CommandGroup)
def command() -> None:
    """Make an autograder for Gradescope, and write the results of a submission as it reads them.

    \b
    Example:
      grade autograder make softmax --out autograder.zip
    """


for _sub in (make, results):
    command.add_command(_sub)
