"""One graded attempt, reduced to what the figures are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from engine.model import Check

__all__ = ["Kind", "Made", "OptionSeen", "PartWork", "Test", "Work"]


class Kind(StrEnum):
    """What belongs together: a quiz, all code exercises, answers outside any quiz."""

    QUIZ = "quiz"
    ANSWERS = "answers"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Test:
    """Items whose points are set against each other.

    ``name`` is the quiz's, empty elsewhere.
    """

    __test__ = False  # for pytest: no test case

    kind: Kind
    name: str = ""

    @property
    def id(self) -> str:
        """``quiz:NAME``, ``answers`` or ``code``."""
        return f"{self.kind}:{self.name}" if self.name else str(self.kind)

    @property
    def place(self) -> tuple[int, str]:
        """By what tests are put in order: quizzes by name, then the others."""
        return list(Kind).index(self.kind), self.name


@dataclass(frozen=True, slots=True)
class OptionSeen:
    """An option as it was shown to one student, told apart by what is behind it and not by its letter."""

    text: str
    correct: bool
    misconception: str


@dataclass(frozen=True, slots=True)
class Made:
    """What a student chose at one choice part, of the options that were shown; positions in ``shown``."""

    part: str
    shown: tuple[OptionSeen, ...]
    chosen: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PartWork:
    """Points of one answer field, before any credit rule; the share of its full marks."""

    id: str
    share: float
    points: float


@dataclass(frozen=True, slots=True)
class Work:
    """One attempt of one student at one item.

    Parameters
    ----------
    student, item, title : str
    number : int
        Of the question in the student's quiz; 0 elsewhere.
    share : float or None
        Of the full marks, 0 to 1; None without a score.
    full : float
        Full marks.
    is_blank : bool
    parts : tuple of PartWork
    checks : tuple of Check
        Of code.
    diagnoses : mapping of str to str
        Known mistakes that were seen, each with what the student was told.
    possible : frozenset of str
        Known mistakes that this variant declares.
    variant : str
        The drawn values in words; empty where nothing is drawn.
    numbers : mapping of str to float
        Drawn numbers by name: of an array its largest entry in size.
    made : tuple of Made
    """

    student: str
    item: str
    title: str
    number: int
    share: float | None
    full: float
    is_blank: bool
    parts: tuple[PartWork, ...] = ()
    checks: tuple[Check, ...] = ()
    diagnoses: Mapping[str, str] = field(default_factory=dict)
    possible: frozenset[str] = frozenset()
    variant: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)
    made: tuple[Made, ...] = ()
