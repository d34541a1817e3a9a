"""``grade quiz key``: keys and worked solutions, for the instructor's eyes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log
from engine.commands.options import course_option, json_option, store_option
from engine.commands.terminal import console, print_json
from engine.errors import QuizError, UsageError
from engine.text.files import replace_text, write_errors
from engine.text.words import clean, clean_line, count_noun, points_text

if TYPE_CHECKING:
    from rich.console import Console

    from engine.model import Quiz
    from engine.quiz.answer_key import KeyPart, KeyQuestion, QuizKey
    from engine.store import Store


@click.command("key")
@click.argument("quiz", metavar="QUIZ")
@click.option("--student", "students", multiple=True, help="Only this student (repeatable); default: all.")
@click.option("--attempt", type=click.IntRange(0, 1000), default=None, help="Only this draw of the quiz.")
@click.option(
    "--html",
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

    Everything comes from the store: it is what was drawn and what is graded, even where items have changed
    since. Variants drawn for later attempts are listed too.

    \b
    Examples:
      grade quiz key l16 --student 007 --course attention-2026
      grade quiz key l16 --html l16-key.html --course attention-2026
    """
    from engine.quiz.answer_key import quiz_key

    if as_json and html is not None:
        raise UsageError("--json and --html don't go together", expected="one of them")
    context = find_context(course_path)
    # Whoever may not read the secret has no business with keys; and it says so if others may read it.
    context.secret()
    name, chosen, home = _selection(context, quiz, students)
    with home.open_store() as store:
        quizzes = [
            stored
            for stored in store.quizzes(name)
            if (not chosen or stored.student in chosen) and (attempt is None or stored.attempt == attempt)
        ]
        _check_drawn(store, name, chosen, attempt, quizzes)
        keys = [quiz_key(store, stored, home.bank) for stored in quizzes]
        only = quizzes[0].student if len(chosen) == 1 else None
        log(home, store, "quiz.key", name, student=only)
    if as_json:
        print_json([entry.as_json() for entry in keys])
    elif html is not None:
        _write_page(home, html, keys)
    else:
        for entry in keys:
            _show_key(entry)


def _selection(
    context: CommandContext, quiz: str, students: tuple[str, ...]
) -> tuple[str, set[str], CommandContext]:
    """Return the quiz's name, the chosen students (none: all), and the context that stores it."""
    if not quiz.endswith((".yaml", ".yml")):
        return quiz, set(students), context
    from engine.quiz.quiz_file import is_quiz_file

    path = Path(quiz)
    if not path.is_file() or not is_quiz_file(path):
        raise UsageError(
            "this isn't a student's quiz file", where=quiz, expected="the name of a quiz, or a fill-in file"
        )
    _, home, stored = context.stored_quiz(path)
    if students and set(students) != {stored.student}:
        raise UsageError(f"this file is {stored.student}'s", where=quiz, expected="leave --student out")
    return stored.name, {stored.student}, home


def _check_drawn(
    store: Store, name: str, students: set[str], attempt: int | None, quizzes: list[Quiz]
) -> None:
    """Refuse a quiz of which nothing was drawn, or nothing for one of these students."""
    missing = sorted(students - {quiz.student for quiz in quizzes})
    if quizzes and not missing:
        return
    names = store.quiz_names()
    if name not in names:
        raise QuizError(
            f"no quiz {name!r} was drawn here",
            expected=", ".join(names) or "grade quiz new first",
            next_step="name the course folder with --course FOLDER" if not names else None,
        )
    whom = f" for {', '.join(missing)}" if missing else ""
    raise QuizError(f"quiz {name} has no draw{whom}" + ("" if attempt is None else f" as attempt {attempt}"))


def _write_page(context: CommandContext, path: Path, keys: list[QuizKey]) -> None:
    from engine.pages.quiz import file_stem, key_page

    # Who hands out a folder of quizzes must not hand out the key with it.
    folder = path.absolute().parent.resolve()
    quizzes = context.course.quizzes.resolve() if context.course else None
    files = (folder / f"{file_stem(entry.quiz)}.yaml" for entry in keys)
    neighbour = next((file for file in files if file.exists()), None)
    if neighbour is not None or (quizzes is not None and quizzes in (folder, *folder.parents)):
        raise UsageError(
            "students' files lie there, so no key is written beside them",
            where=str(path),
            got=str(neighbour or quizzes),
            next_step="choose another folder",
        )
    step = "name a file in a folder that you may write to: --html FILE"
    with write_errors("the key can't be written", path, next_step=step, kind=QuizError):
        # Private from the first byte: a chmod afterwards would leave a moment for others to read it.
        replace_text(path, key_page(keys, names=context.names), private=True)
    click.echo(f"the key of {count_noun(len(keys), 'quiz')} is in {path} (mode 0600: only you can read it)")


def _show_key(key: QuizKey) -> None:
    from rich.text import Text as RichText

    out = console()
    quiz = key.quiz
    attempt = f", attempt {quiz.attempt}" if quiz.attempt else ""
    head = f"{clean_line(quiz.student)} · {clean_line(quiz.title)} (quiz {quiz.name}{attempt}, id {quiz.id})"
    out.print(RichText(head, style="bold underline"))
    for question in key.questions:
        _show_question(out, question)
    out.print()


def _show_question(out: Console, entry: KeyQuestion) -> None:
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
        _show_part(out, part, alone=len(entry.parts) == 1)
    if entry.solution is not None:
        out.print(
            RichText("Solution: ", style="bold").append(clean(entry.solution.plain, 20_000), style="not bold")
        )


def _show_part(out: Console, entry: KeyPart, *, alone: bool) -> None:
    from rich.text import Text as RichText

    part = entry.part
    if not alone:
        text = part.prompt.plain if part.prompt else ""
        out.print(RichText(f"[{part.id}] ({points_text(part.points)}) {text}"))
    for prompt in part.prompts:
        out.print(RichText(f"  {prompt.id}. {prompt.text.plain}"))
    for option in part.options:
        mark = "✓" if option in entry.options else " "
        out.print(RichText(f"  {mark} ({option.id}) {option.text.plain}"))
    out.print(RichText("Key: ", style="bold green").append(entry.key, style="not bold default"))
    # An interval says more than the key; where they are the same it would only repeat it.
    if entry.accepted and entry.accepted != entry.key:
        out.print(RichText(f"  counts as right: {entry.accepted}", style="dim"))
    out.print(RichText(f"  scored: {entry.policy}", style="dim"))
