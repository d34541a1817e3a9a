"""Which stored quiz a row answers."""

from __future__ import annotations

import difflib

from engine.errors import IntakeError, UsageError
from engine.foreign import clean_line
from engine.model import Quiz
from engine.plurals import counted
from engine.store import Store

__all__ = ["Quizzes"]


class Quizzes:
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
        """What to do where nothing tells the quiz."""
        names = ", ".join(self._names)
        return (
            f"--quiz NAME, or a column `quiz`, with one of: {names}" if names else "draw it: grade quiz new"
        )

    def usual(self, file: str) -> str | None:
        """Return the quiz of a file: the one asked for, else of the file's name, else the only one there is.

        None where nothing tells.
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
            raise IntakeError("nothing tells which quiz this answers", next_step=self.step)
        drawn = self._store.quizzes(name, student)
        if len(drawn) > 1:
            raise IntakeError(
                f"{counted(len(drawn), 'quiz')} {name} were drawn for {clean_line(student, 60)}",
                next_step="a column `quiz` with the quiz's own id, as the student's file has it, tells which",
            )
        if not drawn:
            raise IntakeError(f"no quiz {name} was drawn for {clean_line(student, 60)}")
        return drawn[0]

    def _by_id(self, student: str, claim: str) -> Quiz:
        quiz = self._store.load_quiz(claim)
        shown = clean_line(claim, 60)
        if quiz is None:
            close = difflib.get_close_matches(claim, self._names, n=1, cutoff=0.6)
            step = f"did you mean {close[0]}?" if close else self.step
            raise IntakeError(f"no quiz {shown!r} was drawn", next_step=step)
        if quiz.student != student:
            raise IntakeError(
                f"quiz {shown} was made for another student",
                next_step=f"it is {clean_line(quiz.student, 60)}'s: find out whose answers these are",
            )
        return quiz
