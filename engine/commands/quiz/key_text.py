"""A quiz's key in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text as RichText

from engine.commands.render import console, points
from engine.foreign import clean, clean_line

if TYPE_CHECKING:
    from rich.console import Console

    from engine.quiz.answer_key import KeyPart, KeyQuestion, QuizKey

__all__ = ["show_key"]


def show_key(key: QuizKey) -> None:
    """Print one student's key."""
    out = console()
    quiz = key.quiz
    attempt = f", attempt {quiz.attempt}" if quiz.attempt else ""
    head = f"{clean_line(quiz.student)} · {clean_line(quiz.title)} (quiz {quiz.name}{attempt}, id {quiz.id})"
    out.print(RichText(head, style="bold underline"))
    for question in key.questions:
        _question(out, question)
    out.print()


def _question(out: Console, entry: KeyQuestion) -> None:
    question, variant = entry.question, entry.question.variant
    again = f" · variant of retry {question.retry}" if question.retry else ""
    out.print()
    out.print(
        RichText(f"{question.number}. {clean_line(variant.title)}", style="bold").append(
            f" · {points(question.points)} · {variant.item}{again}", style="not bold dim"
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
    part = entry.part
    if not alone:
        asked = part.prompt.plain if part.prompt else ""
        out.print(RichText(f"[{part.id}] ({points(part.points)}) {asked}"))
    for prompt in part.prompts:
        out.print(RichText(f"  {prompt.id}. {prompt.text.plain}"))
    for option in part.options:
        mark = "✓" if option in entry.options else " "
        out.print(RichText(f"  {mark} ({option.id}) {option.text.plain}"))
    out.print(RichText("Key: ", style="bold green").append(entry.key, style="not bold default"))
    if entry.accepted and entry.accepted != entry.key:
        out.print(RichText(f"  counts as right: {entry.accepted}", style="dim"))
    out.print(RichText(f"  scored: {entry.policy}", style="dim"))
