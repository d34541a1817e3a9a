"""What every kind of file gives: one row of answers per hand-in, before anybody asks whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.course import IntakeProblem

__all__ = ["AnswerRow", "ClassAnswers"]


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One hand-in of one student.

    Parameters
    ----------
    line : int
        Where it begins in its file, from 1.
    who : mapping of str to str
        What tells the student, by field of :func:`engine.course.person_columns.person_columns`.
    answers : mapping of str to str
        What a question is called there → the answer as typed; blank where there is none.
    quiz : str
        Name or id of the quiz, where the row tells.
    handed : str
        When it was handed in, as written.
    """

    line: int
    who: Mapping[str, str]
    answers: Mapping[str, str]
    quiz: str = ""
    handed: str = ""


@dataclass(frozen=True)
class ClassAnswers:
    """A file read: its rows, what isn't one, and where each question is named.

    Every row of the file is in exactly one of `rows`, `problems` and `ignored`.
    """

    file: str
    rows: tuple[AnswerRow, ...]
    heads: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[IntakeProblem, ...] = ()
    ignored: tuple[str, ...] = ()
