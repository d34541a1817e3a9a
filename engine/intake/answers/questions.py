"""What a column's head or a YAML key calls a question → the question and part of a student's quiz."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from engine.errors import QuizError
from engine.foreign import clean_line
from engine.model import Quiz, QuizQuestion

__all__ = ["Place", "Questions"]

# Question number and id of the part.
Place = tuple[int, str]

_WORD = r"(?:q|question|response|answer|frage|aufgabe|no|nr)?[\s._#-]*"
_NUMBER = re.compile(rf"{_WORD}0*(?P<number>\d{{1,3}})[.:)]?", re.IGNORECASE)
_LETTERED = re.compile(rf"{_WORD}0*(?P<number>\d{{1,3}})\s*[.(]?(?P<letter>[a-z])\)?", re.IGNORECASE)
_WITH_TEXT = re.compile(rf"{_WORD}0*(?P<number>\d{{1,3}})\s*[.:)]\s+(?P<text>.+)", re.IGNORECASE | re.DOTALL)


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()


class Questions:
    """The questions of one student's quiz, by everything that they may be called.

    Parameters
    ----------
    quiz : Quiz
    """

    def __init__(self, quiz: Quiz) -> None:
        self._quiz = quiz
        self._numbers = {question.number: question for question in quiz.questions}
        self._items = {_words(question.variant.item): question for question in quiz.questions}
        self._titles: dict[str, list[QuizQuestion]] = {}
        for question in quiz.questions:
            self._titles.setdefault(_words(question.variant.title), []).append(question)

    def find(self, head: str) -> Place | None:
        """Return what a head means; None where it is no question of this quiz.

        Understood are a number (``3``, ``Q3``, ``Response 3``, ``3. Softmax``), an item's id or title, and
        each with a part behind it (``3.scores``, ``3b``, ``decoder-step.scores``).

        Raises
        ------
        QuizError
            It means a question, but not one field of it.
        """
        text = " ".join(head.split())
        if text.casefold().startswith(f"{self._quiz.name}/".casefold()):
            text = text[len(self._quiz.name) + 1 :]
        if (question := self._question(text)) is not None:
            return self._only_part(question)
        left, dot, part = text.rpartition(".")
        if dot and (question := self._question(left)) is not None:
            return self._part(question, part)
        lettered = _LETTERED.fullmatch(text)
        if lettered is not None and (question := self._numbers.get(int(lettered["number"]))) is not None:
            return self._lettered(question, lettered["letter"].lower())
        return self._with_text(text)

    def nearest(self, head: str) -> str:
        """Return what could have been meant: an item's id, else a hint at the numbers there are."""
        names = {key: key for key in self._items} | {
            t: found[0].variant.item for t, found in self._titles.items()
        }
        close = difflib.get_close_matches(_words(head), names, n=1, cutoff=0.6)
        if close:
            return f"did you mean {names[close[0]]}?"
        return f"the questions are 1 to {len(self._numbers)}: head a column with its number or its item's id"

    def _question(self, text: str) -> QuizQuestion | None:
        number = _NUMBER.fullmatch(text)
        if number is not None:
            return self._numbers.get(int(number["number"]))
        key = _words(text)
        if key in self._items:
            return self._items[key]
        titled = self._titles.get(key, [])
        if len(titled) > 1:
            listed = " and ".join(str(question.number) for question in titled)
            raise QuizError(
                f"questions {listed} have this title", next_step="head the column with the number"
            )
        return titled[0] if titled else None

    def _with_text(self, text: str) -> Place | None:
        """Read ``3. Softmax of two scores``: the number counts, unless it contradicts a title."""
        found = _WITH_TEXT.fullmatch(text)
        question = self._numbers.get(int(found["number"])) if found else None
        if found is None or question is None:
            return None
        other = self._titles.get(_words(found["text"]), [question])
        if question not in other:
            raise QuizError(
                f"the number means question {question.number}, but question {other[0].number} has this title",
                next_step="head the column with the number alone",
            )
        return self._only_part(question)

    def _only_part(self, question: QuizQuestion) -> Place:
        parts = [part.id for part in question.variant.parts]
        if len(parts) != 1:
            raise QuizError(
                f"question {question.number} has the parts {_listed(parts)}",
                next_step=f"a column for each: {_listed(f'{question.number}.{part}' for part in parts)}",
            )
        return question.number, parts[0]

    def _part(self, question: QuizQuestion, text: str) -> Place:
        parts = {_words(part.id): part.id for part in question.variant.parts}
        key = _words(text)
        if key in parts:
            return question.number, parts[key]
        if len(key) == 1 and key.isascii() and key.isalpha():
            return self._lettered(question, key)
        raise QuizError(
            f"question {question.number} has no part {clean_line(text, 40)!r}",
            next_step=f"its parts are {_listed(parts.values())}",
        )

    def _lettered(self, question: QuizQuestion, letter: str) -> Place:
        parts = [part.id for part in question.variant.parts]
        at = ord(letter) - ord("a")
        if at >= len(parts):
            raise QuizError(
                f"question {question.number} has no part {letter!r}",
                next_step=f"its parts are {_listed(parts)}",
            )
        return question.number, parts[at]


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(texts)
