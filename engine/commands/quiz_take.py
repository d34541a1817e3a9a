"""Asking a quiz's questions in the terminal, saving every answer at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.errors import QuizError, ResponseFormatError
from engine.files import replace_text
from engine.model import Part, Quiz, QuizQuestion

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace

__all__ = ["take_quiz"]


def take_quiz(workplace: Workplace, path: Path) -> int:
    """Ask every open question of the quiz in `path`, then grade the file.

    Returns
    -------
    int
        The exit code of ``grade submit``.
    """
    from engine.commands.render import console
    from engine.intake import read_text_file
    from engine.quiz import read_filled

    filled = read_filled(read_text_file(path), str(path))
    with workplace.open_store() as store:
        quiz = workplace.load_quiz(store, filled, path)
    answers = {number: dict(parts) for number, parts in filled.answers.items()}
    console().print(
        f"{quiz.title}: {len(quiz.questions)} questions. Enter leaves a question open, Ctrl-C stops."
    )
    try:
        for question in quiz.questions:
            _ask_question(question, answers.setdefault(question.number, {}), len(quiz.questions))
            _save(path, quiz, answers)
    except (KeyboardInterrupt, click.Abort, EOFError):
        _save(path, quiz, answers)
        click.echo(f"\nstopped; your answers are in {path}\n  next: grade quiz take {path}")
        return 1
    return _finish(workplace, path, quiz, answers)


def _finish(workplace: Workplace, path: Path, quiz: Quiz, answers: dict[int, dict[str, str]]) -> int:
    from engine.commands.submit import submit_quiz, tell_quiz

    open_parts = [
        q.number for q in quiz.questions if any(not answers[q.number].get(p.id) for p in q.variant.parts)
    ]
    if open_parts:
        listed = ", ".join(map(str, open_parts))
        if not click.confirm(f"Still open: question {listed}. Hand in all the same?", default=False):
            click.echo(f"saved in {path}\n  next: grade quiz take {path}")
            return 1
    return tell_quiz(submit_quiz(workplace, path), as_json=False)


def _ask_question(question: QuizQuestion, answers: dict[str, str], total: int) -> None:
    from rich.text import Text as RichText

    from engine.commands.render import console, points, show_part

    out = console()
    variant = question.variant
    missing = [part for part in variant.parts if not answers.get(part.id)]
    if not missing:
        return
    out.rule(f"Question {question.number} of {total} · {points(question.points)}", align="left")
    out.print(RichText(variant.stem.plain))
    for note in variant.notes:
        out.print(RichText("Note: " + note.plain, style="yellow"))
    for part in missing:
        show_part(out, part, alone=len(variant.parts) == 1)
        answers[part.id] = _ask_part(part)


def _ask_part(part: Part) -> str:
    from engine.answers import answer_type, blank_hint

    while True:
        text: str = click.prompt(f"{part.id} ({blank_hint(part)})", default="", show_default=False)
        if not text.strip():
            return ""
        try:
            answer_type(part.type).parse(text, part)
        except ResponseFormatError as error:
            click.echo("\n".join(error.lines()))
            continue
        return text


def _save(path: Path, quiz: Quiz, answers: dict[int, dict[str, str]]) -> None:
    from engine.quiz import fill_in_text

    try:
        replace_text(path, fill_in_text(quiz, answers), durable=True)
    except OSError as error:
        raise QuizError("the answers can't be saved", where=str(path), got=error.strerror) from error
