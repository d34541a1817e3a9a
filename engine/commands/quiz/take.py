"""``grade quiz take``: a quiz in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import course_option, store_option
from engine.commands.quiz.files import file_stem, find_blueprint, is_quiz_file
from engine.commands.quiz.new import make_quizzes
from engine.commands.terminal import drop_typed
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.model import Quiz

__all__ = ["take"]


@click.command("take")
@click.argument("quiz_file", metavar="QUIZ.yaml|BLUEPRINT", default="l16")
@click.option(
    "--attempt", type=click.IntRange(0, 1000), default=0, help="Another attempt at a practice quiz."
)
@course_option
@store_option
def take(quiz_file: str, attempt: int, course_path: Path | None) -> int:
    """Answer a quiz in the terminal: a fill-in file, or a practice quiz from a blueprint.

    Each answer is saved in the file at once, so you can stop with Ctrl-C and go on later. Where the quiz
    allows it, ? asks for a hint (its cost is shown before), and a wrong answer can be tried again.
    A quiz from a blueprint is practice, inside a course too: nothing of it counts.

    Exit code 0: all right, or handed in where no result is shown; 1: not all right, or stopped.

    \b
    Examples:
      grade quiz take quiz.yaml
      grade quiz take l16
    """
    from engine.commands.quiz.session import take_quiz
    from engine.commands.workplace import find_workplace

    workplace = find_workplace(course_path)
    if quiz_file.endswith((".yaml", ".yml")) and is_quiz_file(Path(quiz_file)):
        return take_quiz(workplace, Path(quiz_file))
    path = find_blueprint(workplace, quiz_file)
    practice = workplace.practice
    quizzes = make_quizzes(practice, path, ["me"], path.stem, attempt)
    drop_typed()
    return take_quiz(practice, _write_practice_quiz(quizzes[0]))


def _write_practice_quiz(quiz: Quiz) -> Path:
    """Write one practice quiz into this folder, or go on with the file that is there."""
    from engine.quiz import fill_in_text

    path = Path(f"{file_stem(quiz)}.yaml")
    try:
        if not path.exists():
            path.write_text(fill_in_text(quiz), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            "the quiz can't be written here",
            where=str(path),
            got=error.strerror or str(error),
            next_step="go to a folder that you may write to, and take it there",
        ) from error
    return path
