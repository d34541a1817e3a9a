"""What every kind of file gives: one row of answers per hand-in, before anybody asks whose it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.hand_ins import IntakeProblem

__all__ = ["TABLES", "AnswerRow", "ClassAnswers", "is_class_yaml"]


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One hand-in of one student.

    Parameters
    ----------
    line : int
        Where it begins in its file, from 1.
    who : mapping of str to str
        What tells the student, by field of :func:`engine.course.people.person_columns`.
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


# ----------------------------------------------------------------------------------------------------
# Which files hold the answers of a whole class, by name and first look.

# Suffixes of tables; YAML has to be looked into, since a student's own quiz file is YAML too.
TABLES = frozenset({".csv", ".tsv", ".xlsx"})
_OWN_QUIZ = re.compile(r"^(questions|student)[ \t]*:", re.MULTILINE)
# A line without indent that begins an entry of a list, or a student's mapping or list.
_ENTRY = re.compile(r"^(?:-(?:[ \t].*)?|[^\s#\-].*:[ \t]*(?:[{\[].*|#.*)?)$", re.MULTILINE)


def is_class_yaml(text: str) -> bool:
    """Return whether a YAML text is a list or mapping of students, and no student's own quiz file."""
    return _OWN_QUIZ.search(text) is None and _ENTRY.search(text.removeprefix("\ufeff")) is not None
