"""What students achieved: the values that batch makes and that reports show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from engine.course.collection import IntakeProblem
from engine.model import GradeReport, Outcome, Variant
from engine.rules import Shown

__all__ = ["Cell", "Column", "ItemResult", "Mark", "StudentResults", "StudentRow"]


@dataclass(frozen=True, slots=True, order=True)
class Column:
    """A column of the gradebook, in its order: quizzes by name and question, then code by item.

    ``id`` is the item for code, ``quiz/item`` for a quiz question, ``quiz/question-3`` for one at which
    students have items of their own.
    """

    quiz: str
    number: int
    item: str
    title: str = field(default="", compare=False)
    max_score: float = field(default=0.0, compare=False)

    @property
    def id(self) -> str:
        """Heading in files."""
        return f"{self.quiz}/{self.item}" if self.number else self.item


@dataclass(frozen=True, slots=True)
class Mark:
    """What a column counts for one student under the course's policies.

    Parameters
    ----------
    raw : float or None
        As graded; None where there is no score.
    adjusted : float or None
        As it counts; None where nothing counts yet.
    why : tuple of str
        One sentence for each thing that made the difference; empty where there is none.
    excused : bool
        The column is left out for this student.
    dropped : bool
        It is among the lowest that aren't counted.
    comment : str
        What a person wrote about it, for the student.
    """

    raw: float | None
    adjusted: float | None
    why: tuple[str, ...] = ()
    excused: bool = False
    dropped: bool = False
    comment: str = ""


@dataclass(frozen=True, slots=True)
class ItemResult:
    """The attempt that counts for one student in one column.

    Parameters
    ----------
    column : Column
    report : GradeReport
    submission : str
        SHA-256 that the student gets as a receipt.
    graded : datetime
        When, in UTC.
    variant : Variant or None
        Of a quiz question.
    answers : mapping of str to str
        What the student typed, by part: foreign text.
    filename : str
        Foreign text.
    attempts : int
        How many submissions there were that weren't blank; the best counts.
    reason : str or None
        Why it is ungraded or unreadable.
    shown : Shown
        How much the student may see now, by the quiz's rules.
    is_final : bool
        Whether no attempt is left, or none is needed: before that nothing tells the key.
    mark : Mark or None
        What it counts under the course's policies; None where there are none.
    """

    column: Column
    report: GradeReport
    submission: str
    graded: datetime
    variant: Variant | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    filename: str = ""
    attempts: int = 1
    reason: str | None = None
    shown: Shown = Shown.FEEDBACK
    is_final: bool = True
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the class table: outcome, score, and the known mistakes seen."""

    outcome: Outcome
    score: float | None
    misconceptions: tuple[str, ...] = ()
    reason: str | None = None
    mark: Mark | None = None

    @property
    def counted(self) -> float | None:
        """The points that count: adjusted by the policies where there are any."""
        return self.score if self.mark is None else self.mark.adjusted


@dataclass(frozen=True, slots=True)
class StudentRow:
    """One line of the class table: small enough to keep for a whole class."""

    student: str
    name: str
    cells: Mapping[str, Cell]
    problems: int = 0
    listed: bool = True

    def total(self) -> float | None:
        """Return the sum of all scores; None while something is ungraded or nothing was handed in."""
        if not self.cells or any(cell.outcome is Outcome.UNGRADED for cell in self.cells.values()):
            return None
        return sum(cell.score or 0.0 for cell in self.cells.values())


@dataclass(frozen=True, slots=True)
class StudentResults:
    """One student's results, one per column, and the problems with what was handed in.

    ``listed`` tells whether the roster has this student (True where there is no roster).
    """

    student: str
    name: str = ""
    items: tuple[ItemResult, ...] = ()
    problems: tuple[IntakeProblem, ...] = ()
    listed: bool = True

    def row(self) -> StudentRow:
        """Return the line of the class table."""
        cells = {
            item.column.id: Cell(
                item.report.outcome,
                item.report.score,
                tuple(diagnosis.misconception for diagnosis in item.report.diagnosis),
                item.reason,
                item.mark,
            )
            for item in self.items
        }
        return StudentRow(self.student, self.name, cells, len(self.problems), self.listed)
