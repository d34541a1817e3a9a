"""``grade quiz``: make quizzes for a class, take one in the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import check_student, course_option, json_option
from engine.errors import QuizError, UsageError

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.model import Quiz

__all__ = ["command"]


@click.group("quiz")
def command() -> None:
    """Make and take quizzes, one variant per student.

    \b
    Example:
      grade quiz new l16 --course attention-2026
    """


@command.command("new")
@click.argument("blueprint")
@click.option(
    "--student", "students", multiple=True, help="Only this student (repeatable); default: the roster."
)
@click.option("--name", default=None, help="Name of the quiz (default: the blueprint's name).")
@click.option(
    "--attempt",
    type=click.IntRange(0, 1000),
    default=0,
    show_default=True,
    help="Another attempt, another draw.",
)
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for the files.")
@json_option
@course_option
def new(
    blueprint: str,
    students: tuple[str, ...],
    name: str | None,
    attempt: int,
    out: Path | None,
    as_json: bool,
    course_path: Path | None,
) -> None:
    """Draw a quiz from BLUEPRINT (a name or a file): per student a fill-in YAML file and a page.

    \b
    Examples:
      grade quiz new l16 --course attention-2026
      grade quiz new my_blueprint.yaml --student me --out .
    """
    from engine.commands.workplace import find_workplace

    _check_names(name, students)
    workplace = find_workplace(course_path)
    path = find_blueprint(workplace, blueprint)
    ids = list(students) or (workplace.course.roster_ids() if workplace.course else ["me"])
    if not ids:
        raise UsageError(
            "the roster is empty", next_step="add students to roster.csv, or name one with --student"
        )
    quiz_name = name or path.stem
    quizzes = make_quizzes(workplace, path, ids, quiz_name, attempt)
    folder = out or (workplace.course.folder / "quizzes" / quiz_name if workplace.course else Path())
    files = write_quizzes(folder, quizzes)
    if as_json:
        rows = [
            {"student": q.student, "quiz": q.id, "files": [str(f) for f in fs]}
            for q, fs in zip(quizzes, files, strict=True)
        ]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        click.echo(f"{len(quizzes)} quizzes of {len(quizzes[0].questions)} questions lie in {folder}")
        click.echo(f"  next: grade submit {files[0][0]}")


def _check_names(name: str | None, students: Sequence[str]) -> None:
    """Refuse a quiz name that is no folder's name, and ids that nobody could read or type again."""
    from engine.foreign import clean_line

    if name is not None and (not name.strip(". ") or "/" in name or clean_line(name, 100) != name):
        raise UsageError("--name can't be used", expected="a word of at most 100 characters", got=repr(name))
    for student in students:
        check_student(student)


def find_blueprint(workplace: Workplace, blueprint: str) -> Path:
    """Return the file of a blueprint: a path, one of the course's, or a built-in one."""
    from engine.spec.bank import builtin_root

    if blueprint.endswith((".yaml", ".yml")):
        if not Path(blueprint).is_file():
            raise QuizError("no such blueprint file", where=blueprint)
        return Path(blueprint)
    folders = [builtin_root() / "blueprints"]
    if workplace.course:
        folders.insert(0, workplace.course.folder / "blueprints")
    for folder in folders:
        path = folder / f"{blueprint}.yaml"
        if path.is_file():
            return path
    known = sorted({p.stem for folder in folders for p in folder.glob("*.yaml")})
    raise QuizError(
        f"no blueprint {blueprint!r}", expected=", ".join(known) or "a blueprint file", got=blueprint
    )


def make_quizzes(
    workplace: Workplace, path: Path, students: list[str], name: str, attempt: int
) -> list[Quiz]:
    """Draw and store the quizzes; a progress bar on a terminal."""
    from engine.commands.progress import progress_bar
    from engine.commands.workplace import tell_unreadable
    from engine.quiz import compose, read_blueprint

    plan = read_blueprint(path)
    with progress_bar("drawing", len(students)) as advance:
        quizzes = compose(
            plan,
            workplace.bank,
            students,
            secret=workplace.secret(),
            name=name,
            attempt=attempt,
            progress=advance,
        )
    if any(section.draws for section in plan.blueprint.sections):
        tell_unreadable(workplace.bank.readable()[1])
    with workplace.open_store() as store:
        store.save_quizzes(quizzes)
    return quizzes


def write_quizzes(folder: Path, quizzes: list[Quiz]) -> list[tuple[Path, Path]]:
    """Write each student's fill-in file and page; a file with answers in it is never overwritten."""
    from engine.quiz import fill_in_text
    from engine.report import quiz_page

    files = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for quiz in quizzes:
            stem = file_stem(quiz)
            fill_in, page = folder / f"{stem}.yaml", folder / f"{stem}.html"
            text = fill_in_text(quiz)
            if not fill_in.exists():
                fill_in.write_text(text, encoding="utf-8")
            elif fill_in.read_text(encoding="utf-8", errors="replace") != text:
                raise QuizError(
                    "a quiz file with other content is there already",
                    where=str(fill_in),
                    next_step="move it away, or choose another --out, --name or --attempt",
                )
            page.write_text(quiz_page(quiz), encoding="utf-8")
            files.append((fill_in, page))
    except OSError as error:
        raise QuizError(
            "the quiz files can't be written", where=str(error.filename or folder), got=str(error.strerror)
        ) from error
    return files


def file_stem(quiz: Quiz) -> str:
    """Return a quiz's file name without anything that a file system or a shell could take amiss."""
    text = f"{quiz.name}-{quiz.student}" + (f"-{quiz.attempt}" if quiz.attempt else "")
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in text).strip(".") or "quiz"


@command.command("take")
@click.argument("quiz_file", metavar="QUIZ.yaml|BLUEPRINT", default="l16")
@click.option(
    "--attempt", type=click.IntRange(0, 1000), default=0, help="Another attempt at a practice quiz."
)
@course_option
def take(quiz_file: str, attempt: int, course_path: Path | None) -> int:
    """Answer a quiz in the terminal: a fill-in file, or a practice quiz from a blueprint.

    Each answer is saved in the file at once, so you can stop with Ctrl-C and go on later.

    \b
    Examples:
      grade quiz take quiz.yaml
      grade quiz take l16
    """
    from engine.commands.quiz_take import take_quiz
    from engine.commands.workplace import find_workplace

    workplace = find_workplace(course_path)
    if quiz_file.endswith((".yaml", ".yml")) and _is_filled(Path(quiz_file)):
        return take_quiz(workplace, Path(quiz_file))
    path = find_blueprint(workplace, quiz_file)
    quizzes = make_quizzes(workplace, path, ["me"], path.stem, attempt)
    return take_quiz(workplace, write_practice_quiz(quizzes[0]))


def write_practice_quiz(quiz: Quiz) -> Path:
    """Write one practice quiz into this folder, or go on with the file that is there."""
    from engine.quiz import fill_in_text

    path = Path(f"{file_stem(quiz)}.yaml")
    if not path.exists():
        path.write_text(fill_in_text(quiz), encoding="utf-8")
    return path


def _is_filled(path: Path) -> bool:
    from engine.intake import read_text_file

    return any(line.startswith("quiz:") for line in read_text_file(path).splitlines())
