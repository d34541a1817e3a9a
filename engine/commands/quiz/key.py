"""``grade quiz key``: keys and worked solutions, for the instructor's eyes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import course_option, json_option, store_option
from engine.errors import QuizError, UsageError
from engine.text.escape import clean, clean_line
from engine.text.words import count_noun, points_text

if TYPE_CHECKING:
    from rich.console import Console

    from engine.commands.context import CommandContext
    from engine.model import Quiz
    from engine.quiz.answer_key import KeyPart, KeyQuestion, QuizKey
    from engine.store import Store

__all__ = ["key", "show_key"]


@click.command("key")
@click.argument("quiz", metavar="QUIZ")
@click.option("--student", "students", multiple=True, help="Only this student (repeatable); default: all.")
@click.option("--attempt", type=click.IntRange(0, 1000), default=None, help="Only this draw of the quiz.")
@click.option(
    "--html",
    "html",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write a page to this file, readable by you alone (mode 0600), instead of printing.",
)
@json_option
@course_option
@store_option
def key(
    quiz: str,
    students: tuple[str, ...],
    attempt: int | None,
    html: Path | None,
    as_json: bool,
    course_path: Path | None,
) -> None:
    """Show keys, accepted intervals and worked solutions of QUIZ (a name, or a student's fill-in file).

    Everything comes from the store, so it is what was drawn and what is graded, whatever became of the
    items since. Variants drawn for later attempts are listed too.

    \b
    Examples:
      grade quiz key l16 --student 007 --course attention-2026
      grade quiz key l16 --html l16-key.html --course attention-2026
    """
    from engine.commands.context import find_context
    from engine.quiz.answer_key import quiz_key

    if as_json and html is not None:
        raise UsageError("--json and --html don't go together", expected="one of them")
    context = find_context(course_path)
    context.secret()  # who may not read the secret has no business here; says so if others may
    name, wanted, place = _wanted(context, quiz, students)
    with place.open_store() as store:
        found = [
            stored
            for stored in store.quizzes(name)
            if (not wanted or stored.student in wanted) and (attempt is None or stored.attempt == attempt)
        ]
        _check_found(store, name, wanted, attempt, found)
        keys = [quiz_key(store, stored, place.bank) for stored in found]
    if as_json:
        click.echo(json.dumps([entry.as_json() for entry in keys], ensure_ascii=False, indent=2))
    elif html is not None:
        _write_page(place, html, keys)
    else:
        for entry in keys:
            show_key(entry)


def _wanted(
    context: CommandContext, quiz: str, students: tuple[str, ...]
) -> tuple[str, set[str], CommandContext]:
    """Return the quiz's name, the students asked for (none: all), and where it is stored."""
    from engine.commands.quiz.new import is_quiz_file

    if not quiz.endswith((".yaml", ".yml")):
        return quiz, set(students), context
    path = Path(quiz)
    if not path.is_file() or not is_quiz_file(path):
        raise UsageError(
            "this is no student's quiz file", where=quiz, expected="the name of a quiz, or a fill-in file"
        )
    from engine.quiz import read_filled
    from engine.text.files import read_hand_in

    place, stored = context.of_quiz(read_filled(read_hand_in(path), quiz), path)
    if students and set(students) != {stored.student}:
        raise UsageError(f"this file is {stored.student}'s", where=quiz, expected="no --student beside it")
    return stored.name, {stored.student}, place


def _check_found(store: Store, name: str, wanted: set[str], attempt: int | None, found: list[Quiz]) -> None:
    missing = sorted(wanted - {stored.student for stored in found})
    if found and not missing:
        return
    names = store.quiz_names()
    if name not in names:
        raise QuizError(
            f"no quiz {name!r} was drawn here",
            expected=", ".join(names) or "grade quiz new first",
            next_step="name the course folder with --course FOLDER" if not names else None,
        )
    who = f" for {', '.join(missing)}" if missing else ""
    raise QuizError(f"quiz {name} has no draw{who}" + ("" if attempt is None else f" as attempt {attempt}"))


def _write_page(context: CommandContext, path: Path, keys: list[QuizKey]) -> None:
    from engine.commands.quiz.new import file_stem
    from engine.pages import key_page
    from engine.text.files import replace_text

    folder = path.absolute().parent.resolve()
    quizzes = context.course.quizzes.resolve() if context.course else None
    files = (folder / f"{file_stem(entry.quiz)}.yaml" for entry in keys)
    beside = next((file for file in files if file.exists()), None)
    if beside is not None or (quizzes is not None and quizzes in (folder, *folder.parents)):
        raise UsageError(
            "students' files lie there, so no key is written beside them",
            where=str(path),
            got=str(beside or quizzes),
            next_step="choose another folder",
        )
    roster = context.course.roster(tolerant=True).by_id if context.course else {}
    names = {student: entry.name for student, entry in roster.items()}
    try:
        replace_text(path, key_page(keys, names=names), private=True)
    except OSError as error:
        raise QuizError(
            "the key can't be written",
            where=str(path),
            got=error.strerror,
            next_step="name a file in a folder that you may write to: --html FILE",
        ) from error
    click.echo(f"the key of {count_noun(len(keys), 'quiz')} is in {path} (mode 0600: for you alone)")


# ----------------------------------------------------------------------------------------------------
# A quiz's key in the terminal.


def show_key(key: QuizKey) -> None:
    """Print one student's key."""
    from rich.text import Text as RichText

    from engine.commands.render import console

    out = console()
    quiz = key.quiz
    attempt = f", attempt {quiz.attempt}" if quiz.attempt else ""
    head = f"{clean_line(quiz.student)} · {clean_line(quiz.title)} (quiz {quiz.name}{attempt}, id {quiz.id})"
    out.print(RichText(head, style="bold underline"))
    for question in key.questions:
        _question(out, question)
    out.print()


def _question(out: Console, entry: KeyQuestion) -> None:
    from rich.text import Text as RichText

    question, variant = entry.question, entry.question.variant
    again = f" · variant of retry {question.retry}" if question.retry else ""
    out.print()
    out.print(
        RichText(f"{question.number}. {clean_line(variant.title)}", style="bold").append(
            f" · {points_text(question.points)} · {variant.item}{again}", style="not bold dim"
        )
    )
    out.print(RichText(variant.stem.plain))
    if entry.is_changed:
        changed = "the bank holds another version of this item now. What was drawn stays as it was drawn."
        out.print(RichText(f"Note: {changed}", style="yellow"))
    for note in (*variant.notes, *variant.told_after):
        out.print(RichText(f"Note: {note.plain}", style="yellow"))
    for part in entry.parts:
        _part(out, part, alone=len(entry.parts) == 1)
    if entry.solution is not None:
        out.print(
            RichText("Solution: ", style="bold").append(clean(entry.solution.plain, 20_000), style="not bold")
        )


def _part(out: Console, entry: KeyPart, *, alone: bool) -> None:
    from rich.text import Text as RichText

    part = entry.part
    if not alone:
        asked = part.prompt.plain if part.prompt else ""
        out.print(RichText(f"[{part.id}] ({points_text(part.points)}) {asked}"))
    for prompt in part.prompts:
        out.print(RichText(f"  {prompt.id}. {prompt.text.plain}"))
    for option in part.options:
        mark = "✓" if option in entry.options else " "
        out.print(RichText(f"  {mark} ({option.id}) {option.text.plain}"))
    out.print(RichText("Key: ", style="bold green").append(entry.key, style="not bold default"))
    if entry.accepted and entry.accepted != entry.key:
        out.print(RichText(f"  counts as right: {entry.accepted}", style="dim"))
    out.print(RichText(f"  scored: {entry.policy}", style="dim"))
