"""What a class handed in, after intake: files by student, and what couldn't be taken in.

These values lie below intake and quizzes, because both make hand-ins and everything above reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any


class FileKind(StrEnum):
    """How a file is graded."""

    CODE = "code"
    QUIZ = "quiz"
    ANSWERS = "answers"


@dataclass(frozen=True, slots=True)
class HandedFile:
    """One file to grade.

    Parameters
    ----------
    path : Path
        Where its bytes are now.
    name : str
        Name as handed in, with its folders: foreign text.
    kind : FileKind
    item : str or None
        Item id of code, and of answers in an assignment's notebook; a quiz file names its quiz inside.
    sha256 : str
        Hash of its bytes and of the files that it imports: the submission's identity. Of an assignment's
        notebook, the hash of what is handed in for the item.
    beside : tuple of (str, Path)
        The files of the same folder that it imports, by module name.
    handed : datetime or None
        When it was handed in, where that is known; with time zone.
    marked_late : bool
        Whether the learning system marked it as late; by how much isn't known.
    sequence : int
        Its place among the student's hand-ins of the item: later ones have larger numbers.
    filled : FilledQuiz or None
        The answers, if they are one student's part of a table; `path` is then the whole table.
    known_as : tuple of str
        Its name without the number of a copy, and the exercise or quiz: a later file of the student that
        shares one of them replaces this one.
    """

    path: Path
    name: str
    kind: FileKind
    item: str | None
    sha256: str
    beside: tuple[tuple[str, Path], ...] = ()
    handed: datetime | None = None
    marked_late: bool = False
    sequence: int = 0
    filled: FilledQuiz | None = None
    known_as: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """A file with the answers of a whole class, not read yet; ``name`` as handed in: foreign text."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class StudentFiles:
    """All files of one student; ``label`` is what the folder or file called the student."""

    student: str
    files: tuple[HandedFile, ...]
    label: str = ""


@dataclass(frozen=True, slots=True)
class IntakeProblem:
    """Something that a person has to look at: mostly a hand-in that isn't graded, with the reason.

    Parameters
    ----------
    where : str
        Name as handed in: foreign text.
    message : str
        What is wrong.
    next_step : str
        What the instructor or student can do.
    student : str or None
        Whose it is, if that is known.
    unjoined : bool
        Whether it is about somebody who doesn't match anybody in the roster; `where` is what the download
        calls them.
    partly : bool
        Whether only a part of the file couldn't be read, and the rest was graded.
    known_as : tuple of str
        As in :class:`HandedFile`.
    noted : bool
        Whether nothing stays ungraded because of it: it is about what something counts.
    """

    where: str
    message: str
    next_step: str = ""
    student: str | None = None
    unjoined: bool = False
    partly: bool = False
    known_as: tuple[str, ...] = ()
    noted: bool = False

    def as_json(self) -> dict[str, str | bool | None]:
        """Return it for scripts."""
        return {
            "student": self.student,
            "where": self.where,
            "message": self.message,
            "next_step": self.next_step,
            "unjoined": self.unjoined,
            "partly": self.partly,
            "noted": self.noted,
        }


@dataclass(frozen=True, slots=True)
class IntakeResult:
    """A whole collection.

    ``ignored`` lists files that systems leave behind (``__MACOSX``, ``.DS_Store`` …), so that
    every entry of an archive is in one of the lists. ``tables`` are files with the answers of a class:
    :func:`engine.intake.row_hand_ins.take_answers` makes hand-ins of their rows. ``layout`` is what the
    download was taken for, and ``marks_late`` whether its system marks every late file.
    """

    students: tuple[StudentFiles, ...]
    problems: tuple[IntakeProblem, ...] = ()
    ignored: tuple[str, ...] = ()
    tables: tuple[AnswerTable, ...] = ()
    layout: str = ""
    marks_late: bool = False

    @property
    def files(self) -> int:
        """Number of files to grade."""
        return sum(len(student.files) for student in self.students)


@dataclass(frozen=True)
class FilledQuiz:
    """The parts of a returned quiz file that are believed: the quiz id and the answers, as typed.

    Parameters
    ----------
    quiz : str
        Quiz id.
    answers : mapping of int to mapping of str to str
        Question number → part id (``"answer"`` where there is one) → raw text.
    claims : mapping of int to mapping
        Points and stem as written in the file, only to tell the student that edits don't count.
    retries : mapping of int to int
        Question number → which of its drawn variants the answers are for, if not the first.
    questions : frozenset of int or None
        The questions that could be answered here, if not all. The others aren't marked: a question for which
        a table has no column wasn't left blank.
    on_paper : mapping of int to mapping of str to str
        Question number → part id → place of what was written by hand and that nobody has typed.
    """

    quiz: str
    answers: Mapping[int, Mapping[str, str]]
    claims: Mapping[int, Mapping[str, Any]]
    retries: Mapping[int, int] = field(default_factory=dict)
    questions: frozenset[int] | None = None
    on_paper: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
