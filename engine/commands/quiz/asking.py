"""One question in the terminal: stem, hints with their cost, an answer that can be read."""

from __future__ import annotations

import sys
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from engine.commands.terminal import agreed, say
from engine.errors import ResponseFormatError
from engine.foreign import clean_line

if TYPE_CHECKING:
    from engine.model import Part
    from engine.quiz.sitting import Standing
    from engine.rules import QuizRules

__all__ = ["Asking"]


@dataclass(frozen=True)
class Asking:
    """Asks the questions of one quiz.

    Parameters
    ----------
    rules : QuizRules
    total : int
        Number of questions.
    take_hint : callable
        Writes down that the next hint of a question is taken, and returns the question's new standing.
    answered : callable
        Called after every answer, before the next one is asked for; raises if it came too late.
    """

    rules: QuizRules
    total: int
    take_hint: Callable[[Standing], Standing]
    answered: Callable[[], None]

    def ask(self, standing: Standing, answers: MutableMapping[str, str]) -> None:
        """Ask for what is still blank in `answers` and write it there, part by part."""
        from rich.text import Text as RichText

        from engine.commands.render import console, show_part

        parts = standing.question.variant.parts
        missing = [part for part in parts if not answers.get(part.id, "").strip()]
        if not missing:
            return
        out = console()
        variant = standing.question.variant
        self._head(standing)
        out.print(RichText(variant.stem.plain))
        for note in variant.notes:
            out.print(RichText("Note: " + note.plain, style="yellow"))
        for number, hint in enumerate(standing.hints_seen, start=1):
            out.print(RichText(f"Hint {number}: {hint.plain}"))
        alone = len(parts) == 1
        for part in missing:
            show_part(out, part, alone=alone)
            text, standing = self._answer(part, standing, "answer" if alone else part.id)
            self._write(answers, part.id, text)

    def _write(self, answers: MutableMapping[str, str], part: str, text: str) -> None:
        """Write an answer down unless it came too late."""
        before = answers.get(part, "")
        answers[part] = text
        try:
            self.answered()
        except BaseException:
            answers[part] = before
            raise

    def _head(self, standing: Standing) -> None:
        from engine.commands.render import console, points

        question = standing.question
        words = [f"Question {question.number} of {self.total}", points(question.points)]
        if standing.attempts:
            words.append(f"attempt {len(standing.attempts) + 1} of {self.rules.attempts or 1}")
        if standing.share < 1:
            words.append(f"now at most {points(standing.share * question.points)}")
        head = " · ".join(words)
        say()
        if sys.stdout.isatty():
            console().rule(head, align="left")
        else:
            say(head)

    def _answer(self, part: Part, standing: Standing, name: str) -> tuple[str, Standing]:
        from engine.answers import answer_type, blank_hint

        say(f"  {blank_hint(part)}{self._hint_offer(standing)}")
        last = standing.last_answers.get(part.id, "").strip()
        if last:
            say(f"  last time: {clean_line(last)} (= repeats it)")
        while True:
            text: str = click.prompt(name, default="", show_default=False)
            if text.strip() == "?":
                standing = self._hint(standing)
                continue
            if not text.strip():
                return "", standing
            text = last if text.strip() == "=" and last else text
            try:
                answer_type(part.type).parse(text, part)
            except ResponseFormatError as error:
                say("\n".join(error.lines()))
                continue
            return text, standing

    def _hint_offer(self, standing: Standing) -> str:
        left = len(standing.question.variant.hints) - standing.hints
        if self.rules.hint_cost is None or left <= 0:
            return ""
        return f" (? for a hint: {left} left)"

    def _hint(self, standing: Standing) -> Standing:
        """Offer the next hint with what it costs; give it if that is taken."""
        hints = standing.question.variant.hints
        if self.rules.hint_cost is None or not hints:
            none = "quiz gives" if self.rules.hint_cost is None else "question has"
            say(f"This {none} no hints.")
            return standing
        if standing.hints >= len(hints):
            for number, hint in enumerate(standing.hints_seen, start=1):
                say(f"Hint {number}: {hint.plain}")
            say("That was the last hint.")
            return standing
        if self.rules.hint_cost and not agreed(self._cost(standing)):
            return standing
        standing = self.take_hint(standing)
        say(f"Hint {standing.hints} of {len(hints)}: {hints[standing.hints - 1].plain}")
        return standing

    def _cost(self, standing: Standing) -> str:
        from engine.commands.render import number, points

        full = standing.question.points
        after = self.rules.share(len(standing.attempts), standing.hints + 1) * full
        now = standing.share * full
        hints = len(standing.question.variant.hints)
        return (
            f"Hint {standing.hints + 1} of {hints}: with it this attempt can earn at most {number(after)} "
            f"instead of {points(now)}. Take it?"
        )
