"""Blueprints are found here, and the files of a quiz written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import QuizError

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.model import Quiz

__all__ = ["file_stem", "find_blueprint", "is_quiz_file", "write_quizzes", "write_starters"]

_ELSEWHERE = "choose a folder that you may write to: --out FOLDER"

_MANY = 40  # students whose files are worth starting processes for


def find_blueprint(workplace: Workplace, blueprint: str) -> Path:
    """Return the file of a blueprint: a path, one of the course's, or a built-in one."""
    from engine.spec.bank import builtin_root

    if blueprint.endswith((".yaml", ".yml")):
        if not Path(blueprint).is_file():
            raise QuizError("no such blueprint file", where=blueprint)
        return Path(blueprint)
    if Path(blueprint).is_file():
        raise QuizError(
            "this is neither a quiz file nor a blueprint", where=blueprint, expected="a file NAME.yaml"
        )
    folders = [builtin_root() / "blueprints"]
    if workplace.course:
        folders.insert(0, workplace.course.blueprints)
    for folder in folders:
        path = folder / f"{blueprint}.yaml"
        if path.is_file():
            return path
    known = sorted({p.stem for folder in folders for p in folder.glob("*.yaml")})
    raise QuizError(
        f"no blueprint {blueprint!r}", expected=", ".join(known) or "a blueprint file", got=blueprint
    )


def is_quiz_file(path: Path) -> bool:
    """Tell whether a file is a fill-in file, and no blueprint."""
    from engine.intake import read_text_file

    return any(line.startswith("quiz:") for line in read_text_file(path).splitlines())


def write_quizzes(
    folder: Path, quizzes: Sequence[Quiz], names: Mapping[str, str] | None = None
) -> list[tuple[Path, Path]]:
    """Write each student's fill-in file and page; a fill-in file that is there stays as it is.

    It may hold answers. A :class:`QuizError` if it is another quiz's.
    """
    from engine.cores import on_all_cores

    stems = _stems(quizzes)

    def write(number: int) -> tuple[Path, Path]:
        quiz = quizzes[number]
        return _write(folder, quiz, stems[number], (names or {}).get(quiz.student))

    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = on_all_cores(write, range(len(quizzes)), least=_MANY)
        return [written[n] if n in written else write(n) for n in range(len(quizzes))]
    except OSError as error:
        raise QuizError(
            "the quiz files can't be written",
            where=str(error.filename or folder),
            got=str(error.strerror),
            next_step=_ELSEWHERE,
        ) from error


def write_starters(workplace: Workplace, folder: Path, quiz: Quiz) -> list[Path]:
    """Write the starter of each code exercise of a quiz to ``starters/`` and return the files.

    Students who don't have the command get them together with their quiz. A starter is the same for
    everybody; one that is there is written anew.
    """
    from engine.commands.practising import code_spec, commands_for
    from engine.files import replace_text
    from engine.practice.starter import starter_source
    from engine.spec.text_file import read_text

    written = []
    for exercise in quiz.exercises:
        _, answer = code_spec(workplace, exercise.item)
        path = folder / "starters" / f"{exercise.item}.py"
        starter = read_text(workplace.bank.path(exercise.item).parent / answer.starter)
        following = tuple(commands_for(exercise.item, path.name).values())
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(path, starter_source(workplace.draw(exercise.item, 0), starter, following))
        except OSError as error:
            raise QuizError(
                "a starter can't be written",
                where=str(error.filename or path),
                got=str(error.strerror),
                next_step=_ELSEWHERE,
            ) from error
        written.append(path)
    return written


def _write(folder: Path, quiz: Quiz, stem: str, name: str | None) -> tuple[Path, Path]:
    from engine.files import replace_text
    from engine.quiz import fill_in_text
    from engine.report import quiz_page

    fill_in, page = folder / f"{stem}.yaml", folder / f"{stem}.html"
    if not fill_in.exists():
        replace_text(fill_in, fill_in_text(quiz))
    elif not _is_of(quiz, fill_in):
        raise QuizError(
            "another quiz's file is there already",
            where=str(fill_in),
            next_step="move it away, or choose another --out, --name or --attempt",
        )
    replace_text(page, quiz_page(quiz, student=f"{name} ({quiz.student})" if name else None))
    return fill_in, page


def _is_of(quiz: Quiz, path: Path) -> bool:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    named = (line.removeprefix("quiz:").strip().strip("'\"") for line in lines if line.startswith("quiz:"))
    return quiz.id in named


def file_stem(quiz: Quiz) -> str:
    """Return a quiz's file name without anything that a file system or a shell could take amiss."""
    text = f"{quiz.name}-{quiz.student}" + (f"-{quiz.attempt}" if quiz.attempt else "")
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in text).strip(".") or "quiz"


def _stems(quizzes: Sequence[Quiz]) -> list[str]:
    """Return the files' names; two that a file system could take for one get the quiz's id added."""
    stems = [file_stem(quiz) for quiz in quizzes]
    often = Counter(stem.casefold() for stem in stems)
    return [
        f"{stem}-{quiz.id[:6]}" if often[stem.casefold()] > 1 else stem
        for stem, quiz in zip(stems, quizzes, strict=True)
    ]
