"""Find the question that the head of a column, or a YAML key, means in a student's own quiz.

Teachers head columns with what is at hand: a number, an item's id, its title. Each student has a quiz of
their own, so the same head may mean different questions, or none.
"""

from __future__ import annotations

import re
from functools import lru_cache

from engine.errors import IntakeError, QuizError, UsageError
from engine.model import Quiz, QuizQuestion
from engine.store import Store
from engine.text.words import clean_line, count_noun, near_words, suggestion

# Question number and id of the part.
Place = tuple[int, str]

_WORD = r"(?:q|question|response|answer|frage|aufgabe|no|nr)?[\s._#-]*"
_NUMBER = re.compile(rf"{_WORD}0*(?P<number>\d{{1,3}})[.:)]?", re.IGNORECASE)
_LETTERED = re.compile(rf"{_WORD}0*(?P<number>\d{{1,3}})\s*[.(]?(?P<letter>[a-z])\)?", re.IGNORECASE)
_WITH_TEXT = re.compile(rf"{_WORD}0*(?P<number>\d{{1,3}})\s*[.:)]\s+(?P<text>.+)", re.IGNORECASE | re.DOTALL)


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()


class QuizQuestions:
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
        self._names = tuple((q.variant.item, q.variant.title) for q in quiz.questions)

    def find(self, head: str) -> Place:
        """Return what a head means.

        Understood are a number (``3``, ``Q3``, ``Response 3``, ``3. Softmax``), an item's id or title, and
        each followed by a part (``3.scores``, ``3b``, ``decoder-step.scores``).

        Raises
        ------
        QuizError
            It isn't a question of this quiz, or means one without telling which field of it.
        """
        text = " ".join(head.split())
        if text.casefold().startswith(f"{self._quiz.name}/".casefold()):
            text = text[len(self._quiz.name) + 1 :]
        if (question := self._question(text)) is not None:
            return self._only_part(question)
        question_text, dot, part = text.rpartition(".")
        of_part = self._question(question_text) if dot else None
        if of_part is not None and (place := self._part(of_part, part)) is not None:
            return place
        lettered = _LETTERED.fullmatch(text)
        if lettered is not None and (question := self._numbers.get(int(lettered["number"]))) is not None:
            of_part, part = question, lettered["letter"]
            if (place := self._part(question, part)) is not None:
                return place
        if (place := self._with_text(text)) is not None:
            return place
        if of_part is None:
            raise QuizError("the quiz has no such question", next_step=_nearest(text, self._names))
        raise QuizError(
            f"question {of_part.number} has no part {clean_line(part, 40)!r}",
            next_step=f"its parts are {', '.join(part.id for part in of_part.variant.parts)}",
        )

    def _question(self, text: str) -> QuizQuestion | None:
        number = _NUMBER.fullmatch(text)
        if number is not None:
            return self._numbers.get(int(number["number"]))
        key = _words(text)
        if key in self._items:
            return self._items[key]
        titled = self._titles.get(key, [])
        if len(titled) > 1:
            numbers = " and ".join(str(question.number) for question in titled)
            raise QuizError(
                f"questions {numbers} have this title", next_step="head the column with the number"
            )
        return titled[0] if titled else None

    def _with_text(self, text: str) -> Place | None:
        # ``3. Softmax of two scores``: the number counts, unless it contradicts a title.
        match = _WITH_TEXT.fullmatch(text)
        question = self._numbers.get(int(match["number"])) if match else None
        if match is None or question is None:
            return None
        other = self._titles.get(_words(match["text"]), [question])
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
                f"question {question.number} has the parts {', '.join(parts)}",
                next_step=f"a column for each: {', '.join(f'{question.number}.{part}' for part in parts)}",
            )
        return question.number, parts[0]

    def _part(self, question: QuizQuestion, text: str) -> Place | None:
        # ``b`` is the second part where no part is called by a letter, as quizzes on paper have it.
        ids = [part.id for part in question.variant.parts]
        key = _words(text)
        named = next((part for part in ids if _words(part) == key), None)
        if named is not None:
            return question.number, named
        if len(key) != 1 or any(len(part) == 1 for part in ids):
            return None
        at = ord(key) - ord("a")
        return (question.number, ids[at]) if 0 <= at < len(ids) else None


@lru_cache(maxsize=256)  # a class asks the same for each of its rows
def _nearest(head: str, names: tuple[tuple[str, str], ...]) -> str:
    items = {_words(name): item for item, title in names for name in (title, item)}
    if near := near_words(_words(head), items):
        return f"did you mean {items[near[0]]}?"
    return f"the questions are 1 to {len(names)}: head a column with its number or its item's id"


class StoredQuizzes:
    """The quizzes of the store, asked for by name and student.

    Parameters
    ----------
    store : Store
    name : str or None
        The quiz that everything answers which doesn't say otherwise.

    Raises
    ------
    UsageError
        No quiz of this name was drawn.
    """

    def __init__(self, store: Store, name: str | None = None) -> None:
        self._store = store
        self._names = names = store.quiz_names()
        if name is not None and name not in names:
            raise UsageError(
                f"no quiz {clean_line(name, 60)!r} was drawn",
                expected=f"--quiz with one of: {', '.join(names) or '(none was drawn yet)'}",
            )
        self._name = name

    @property
    def step(self) -> str:
        """What to do where nothing names the quiz."""
        names = ", ".join(self._names)
        return (
            f"--quiz NAME, or a column `quiz`, with one of: {names}" if names else "draw it: grade quiz new"
        )

    def usual(self, file: str) -> str | None:
        """Return the quiz of a file: the one asked for, else of the file's name, else the only one there is.

        None where nothing does.
        """
        if self._name is not None:
            return self._name
        if file in self._names:
            return file
        return self._names[0] if len(self._names) == 1 else None

    def of(self, student: str, claim: str, usual: str | None) -> Quiz:
        """Return the quiz that a student's row answers.

        Parameters
        ----------
        student : str
        claim : str
            Name or id of a quiz that the row gives; blank where it gives none.
        usual : str or None
            The quiz of the whole file.

        Raises
        ------
        IntakeError
            There is no such quiz, not for this student, or several are meant.
        """
        if claim and claim not in self._names:
            return self._by_id(student, claim)
        name = claim or usual
        if name is None:
            raise IntakeError("nothing says which quiz this answers", next_step=self.step)
        quizzes = self._store.quizzes(name, student)
        if len(quizzes) > 1:
            raise IntakeError(
                f"{count_noun(len(quizzes), 'quiz')} {name} were drawn for {clean_line(student, 60)}",
                next_step="a column `quiz` with the quiz's own id, as the student's file has it, tells which",
            )
        if not quizzes:
            raise IntakeError(f"no quiz {name} was drawn for {clean_line(student, 60)}")
        return quizzes[0]

    def _by_id(self, student: str, claim: str) -> Quiz:
        quiz = self._store.load_quiz(claim)
        label = clean_line(claim, 60)
        if quiz is None:
            step = suggestion(claim, self._names) or self.step
            raise IntakeError(f"no quiz {label!r} was drawn", next_step=step)
        if quiz.student != student:
            raise IntakeError(
                f"quiz {label} was made for another student",
                next_step=f"it is {clean_line(quiz.student, 60)}'s: find out whose answers these are",
            )
        return quiz
