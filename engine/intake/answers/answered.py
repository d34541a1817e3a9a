"""One row against one student's quiz: which answer belongs to which question, and what is no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import QuizError
from engine.foreign import clean_line
from engine.intake.answers.damage import damage
from engine.intake.answers.questions import Place, Questions
from engine.model import Quiz
from engine.quiz import FilledQuiz

__all__ = ["Answered", "answer_quiz"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a row says to a quiz.

    Parameters
    ----------
    filled : FilledQuiz
        What can be marked.
    problems : tuple of (str, str)
        What can't, with the next step.
    strange : mapping of str to (str, str)
        Heads that are no field of this quiz, with what is wrong and the next step; whether anything is
        answered there or not.
    """

    filled: FilledQuiz
    problems: tuple[tuple[str, str], ...]
    strange: Mapping[str, tuple[str, str]]

    @property
    def is_blank(self) -> bool:
        """Whether nothing is answered."""
        return not any(text for parts in self.filled.answers.values() for text in parts.values())


def answer_quiz(quiz: Quiz, answers: Mapping[str, str]) -> Answered:
    """Return what a row says to a student's quiz.

    A question without a column isn't asked here; one with a damaged or doubtful answer isn't either, so
    that nobody gets 0 for what a spreadsheet did.

    Parameters
    ----------
    quiz : Quiz
        As stored.
    answers : mapping of str to str
        Head → text.
    """
    questions = Questions(quiz)
    given: dict[int, dict[str, str]] = {}
    heads: dict[Place, str] = {}
    doubtful: set[int] = set()
    problems: list[tuple[str, str]] = []
    strange: dict[str, tuple[str, str]] = {}
    for head, text in answers.items():
        try:
            number, part = questions.find(head)
        except QuizError as error:
            # The error itself would keep the quiz in memory, by its traceback.
            strange[head] = error.what, error.next_step or ""
            continue
        parts = given.setdefault(number, {})
        what = damage(text) if text else None
        if what is not None:
            doubtful.add(number)
            problems.append((f"question {number}: {what}", "write what was typed into the cell, as text"))
        elif text and parts.get(part, text) not in (text, ""):
            doubtful.add(number)
            other = clean_line(heads[number, part], 60)
            shown = clean_line(head, 60)
            problems.append((f"question {number} is answered twice, at {other!r} and {shown!r}", "keep one"))
        if text or part not in parts:
            parts[part], heads[number, part] = text, head
    marked = {number: parts for number, parts in given.items() if number not in doubtful}
    filled = FilledQuiz(quiz.id, marked, {}, asked=frozenset(marked))
    return Answered(filled, tuple(problems), strange)
