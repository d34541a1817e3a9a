"""``grade autograder results``: grade what Gradescope has laid out, and write ``results.json``."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.errors import EngineError, InputError, SubmissionError

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.gradebooks.autograder import AutograderSettings, ItemGrade
    from engine.runner import Runner

__all__ = ["results"]


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
    from engine.files import replace_text
    from engine.gradebooks.autograder import results_json, ungraded_json

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
    from engine.commands.workplace import find_workplace
    from engine.gradebooks.autograder import read_settings

    source = root / "source"
    try:
        settings = read_settings(source / "autograder.json")
        workplace = find_workplace(source / "course")
        for item in settings.items:
            workplace.bank.load(item)
    except InputError as error:  # what we have packed ourselves: nothing that a student could mend
        raise EngineError(
            error.what, where=error.where, expected=error.expected, got=error.got, next_step=error.next_step
        ) from error
    with workplace.open_runner(settings.tier, unsafe_local=False) as runner:
        grader = _Grader(workplace, root, runner)
        return settings, [grader.grade(item) for item in settings.items]


class _Grader:
    """Grades the exercises of one submission.

    Parameters
    ----------
    workplace : Workplace
    root : Path
    runner : Runner
    """

    def __init__(self, workplace: Workplace, root: Path, runner: Runner) -> None:
        from engine.batch import CodeExercises

        self._bank = workplace.bank
        self._folder = _only_folder(root / "submission")
        self._runner = runner
        # Another plan for each submission: students see feedback between them. The same one when it is rerun.
        secret = hmac.new(workplace.secret(), _identity(root), hashlib.sha256).digest()
        self._code = CodeExercises(self._bank, secret=secret, mode=workplace.mode)

    def grade(self, item: str) -> ItemGrade:
        """Return what became of one exercise."""
        from engine.gradebooks.autograder import ItemGrade
        from engine.intake import read_submission
        from engine.spec.schema import CodeAnswer

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
