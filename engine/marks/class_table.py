"""Results as values: what :mod:`engine.marks.class_results` returns, and pages and gradebooks show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from statistics import median
from typing import TYPE_CHECKING

from engine.hand_ins import IntakeProblem
from engine.model import GradeReport, Outcome, Quiz, QuizQuestion, ResultDisclosure, Variant

if TYPE_CHECKING:
    from engine.store import Attempt, CodeComment


@dataclass(frozen=True, slots=True, order=True)
class TableColumn:
    """A column of the gradebook, in its order: quizzes by name and question, then code by item.

    ``id`` is the item for code, ``quiz/item`` for a quiz question, ``quiz/question-3`` where each student has
    another item. ``is_asked`` is False for an item that the quiz doesn't ask (any more): its number is only
    its place in the gradebook.
    """

    # These three make and order a column; title and points may differ between drawn quizzes.
    quiz: str
    number: int
    item: str
    title: str = field(default="", compare=False)
    max_score: float = field(default=0.0, compare=False)
    is_asked: bool = field(default=True, compare=False)

    @property
    def place(self) -> str:
        """How students of fill-in files know it: ``week-2, question 3``; empty for code."""
        return self.place_in({})

    def place_in(self, titles: Mapping[str, str]) -> str:
        """Return :attr:`place` with the quiz's title, by its name, where that is what students know."""
        if not self.number:
            return ""
        quiz = titles.get(self.quiz, self.quiz)
        return f"{quiz}, question {self.number}" if self.is_asked else quiz

    @property
    def id(self) -> str:
        """Heading in files."""
        return f"{self.quiz}/{self.item}" if self.number else self.item

    @property
    def assignment(self) -> str:
        """The quiz or code item that it belongs to, as ``course.yaml`` names it."""
        return self.quiz if self.number else self.item


def column_of(attempt: Attempt, quiz: Quiz | None, title_of: Callable[[str], str]) -> TableColumn:
    """Return the gradebook column that an attempt belongs to.

    Parameters
    ----------
    attempt : Attempt
    quiz : Quiz or None
        The quiz that it answers.
    title_of : callable
        Item id → title.
    """
    if quiz is None:
        # "~" sorts code after the quizzes.
        return TableColumn("~", 0, attempt.item, title_of(attempt.item), attempt.report.max_score)
    question = next((q for q in quiz.questions if q.variant.item == attempt.item), None)
    if question is not None:
        return replace(_of_question(quiz, question), max_score=attempt.report.max_score)
    # The quiz doesn't ask this item (any more): its column follows those of the questions.
    title = attempt.variant.title if attempt.variant else attempt.item
    return TableColumn(
        quiz.name, len(quiz.questions) + 1, attempt.item, title, attempt.report.max_score, False
    )


def columns_of_quiz(quiz: Quiz) -> list[TableColumn]:
    """Return the gradebook columns of a quiz, in the order of its questions."""
    return [_of_question(quiz, question) for question in quiz.questions]


def _of_question(quiz: Quiz, question: QuizQuestion) -> TableColumn:
    number, variant = question.number, question.variant
    if question.own_family:
        return TableColumn(quiz.name, number, f"question-{number}", f"Question {number}", question.points)
    return TableColumn(quiz.name, number, variant.item, variant.title, question.points)


@dataclass(frozen=True, slots=True)
class ColumnMark:
    """One student's mark in one column under the course's policies.

    Parameters
    ----------
    raw : float or None
        As graded; None where there is no score.
    adjusted : float or None
        As it counts; None where nothing counts (yet).
    why : tuple of str
        One sentence for each change; empty where there is none.
    excused : bool
        The column is left out for this student.
    dropped : bool
        It is among the lowest, which don't count.
    comment : str
        A person's remark for the student.
    by_hand : bool
        Whether a person set the points, so that they don't follow from what was graded.
    """

    raw: float | None
    adjusted: float | None
    why: tuple[str, ...] = ()
    excused: bool = False
    dropped: bool = False
    comment: str = ""
    by_hand: bool = False

    @property
    def reasons(self) -> tuple[str, ...]:
        """The sentences about changes, and the comment."""
        return (*self.why, self.comment) if self.comment else self.why

    @property
    def is_left_out(self) -> bool:
        """Whether total and full points leave it out: it is excused, or among the lowest."""
        return self.excused or self.dropped


@dataclass(frozen=True, slots=True)
class FurtherAnswer:
    """An answer that earns nothing by its quiz's rules; ``answers`` and ``filename`` are foreign text."""

    answers: Mapping[str, str]
    filename: str
    why: str


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """What a regrade made of an attempt's points; ``after`` is None where a person must mark it again."""

    at: datetime
    before: float | None
    after: float | None
    maximum: float


@dataclass(frozen=True, slots=True)
class ItemResult:
    """The attempt that counts for one student in one column.

    Parameters
    ----------
    column : TableColumn
    report : GradeReport
    submission : str
        SHA-256, the student's receipt.
    graded : datetime
        In UTC.
    variant : Variant or None
        The variant of a quiz question.
    answers : mapping of str to str
        The typed answers by part: foreign text.
    filename : str
        Foreign text.
    attempts : int
        Submissions that weren't blank; the best of them counts, or whatever the policies say.
    reason : str or None
        Why it is ungraded or unreadable.
    disclosure : ResultDisclosure
        What the student may see now.
    is_final : bool
        Whether no further attempt is possible or needed; before that nothing may reveal the key.
    mark : ColumnMark or None
        The mark under the course's policies; None where there are none.
    handed : datetime or None
        When it was handed in, where that is known.
    marked_late : bool
        Whether the learning system marked it as late; by how much isn't known.
    used : int
        Attempts used up by the quiz's rules.
    allowed : int or None
        Attempts that the quiz allows; None where it sets no limit.
    further : tuple of FurtherAnswer
        Other answers of this column that earn nothing by the quiz's rules, oldest first.
    hidden_checks : frozenset of str
        Checks whose results the student may not see yet; with any, neither may the score be seen.
    hidden_until : str
        When they are shown, for a sentence.
    comments : tuple of CodeComment
        On lines of this program.
    source, modules
        The program and the files beside it, where there are comments; otherwise empty.
    regraded : tuple of ScoreChange
        What regrades changed in this column, oldest first; also in attempts that don't count.
    stand_in : ItemResult or None
        Another attempt, which the student is shown in its place: while checks are hidden, nothing may tell
        which attempt is the best. None where this one may be shown.
    """

    column: TableColumn
    report: GradeReport
    submission: str
    graded: datetime
    variant: Variant | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    filename: str = ""
    attempts: int = 1
    reason: str | None = None
    disclosure: ResultDisclosure = ResultDisclosure.FEEDBACK
    is_final: bool = True
    mark: ColumnMark | None = None
    handed: datetime | None = None
    marked_late: bool = False
    used: int = 0
    allowed: int | None = None
    further: tuple[FurtherAnswer, ...] = ()
    hidden_checks: frozenset[str] = frozenset()
    hidden_until: str = ""
    comments: tuple[CodeComment, ...] = ()
    source: str = ""
    modules: Mapping[str, str] = field(default_factory=dict)
    regraded: tuple[ScoreChange, ...] = ()
    stand_in: ItemResult | None = None

    @property
    def shows_score(self) -> bool:
        """Whether the student may know the score now."""
        return self.disclosure.includes(ResultDisclosure.SCORE) and not self.hidden_checks

    @property
    def is_blank(self) -> bool:
        """Whether it is a question that was handed in without any answer."""
        return self.variant is not None and not any(text.strip() for text in self.answers.values())


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell of the class table: outcome, score, and the known mistakes in it.

    ``outcome`` is None where nothing was handed in and there is a mark all the same: excused, set by
    hand, or a 0 for missing work. ``needs_person`` tells an answer that a person must mark from one that the
    machine failed to grade; ``is_blank`` one that was left blank from a wrong one.
    """

    outcome: Outcome | None
    score: float | None
    misconceptions: tuple[str, ...] = ()
    reason: str | None = None
    mark: ColumnMark | None = None
    needs_person: bool = False
    is_blank: bool = False

    @property
    def word(self) -> str:
        """What tables call it while it has no points."""
        if self.outcome is None:
            return ""
        return "to be marked" if self.needs_person else self.outcome.word

    @property
    def counted(self) -> float | None:
        """The points that count: adjusted by the policies where there are any."""
        # Without a mark the course has no rules, and the score counts.
        return self.score if self.mark is None else self.mark.adjusted

    @property
    def is_left_out(self) -> bool:
        """Whether total and full points leave it out: it is excused, or among the lowest."""
        return self.mark is not None and self.mark.is_left_out

    @property
    def is_waiting(self) -> bool:
        """Whether its points aren't known before it is graded."""
        return self.outcome is Outcome.UNGRADED and self.counted is None and not self.is_left_out

    @property
    def is_unreadable(self) -> bool:
        """Whether it counts for nothing because it can't be read."""
        return self.outcome is Outcome.FORMAT_ERROR and self.counted is None and not self.is_left_out


@dataclass(frozen=True, slots=True)
class StudentRow:
    """One line of the class table: small enough to keep for a whole class.

    ``percent`` is weighted by the groups; None where groups have no weights.
    """

    student: str
    name: str
    cells: Mapping[str, TableCell]
    problems: int = 0
    in_roster: bool = True
    percent: float | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether something must be graded before the total is known."""
        return any(cell.is_waiting for cell in self.cells.values())

    @property
    def waiting_word(self) -> str:
        """Why there is no total yet: ``to be marked`` where only people can add to it, else ``ungraded``."""
        waiting = [cell for cell in self.cells.values() if cell.is_waiting]
        if not waiting:
            return ""
        return "to be marked" if all(cell.needs_person for cell in waiting) else "ungraded"

    @property
    def handed_in(self) -> bool:
        """Whether there is any work of this student."""
        return any(cell.outcome is not None for cell in self.cells.values())

    def total(self) -> float | None:
        """Return the sum of all points that count; None while something is ungraded or if nothing counts."""
        # A total without the ungraded work would look like a final one, and too low.
        counted = [cell for cell in self.cells.values() if not cell.is_left_out]
        if not counted or self.is_waiting:
            return None
        # Points have six decimals at most, and so has their sum.
        return round(math.fsum(cell.counted or 0.0 for cell in counted), 6)

    def within(self, columns: Iterable[TableColumn]) -> StudentRow:
        """Return the row of these columns alone: total, what waits, and what is full marks are theirs."""
        cells = {column.id: self.cells[column.id] for column in columns if column.id in self.cells}
        # The percentage is that of the whole course.
        return replace(self, cells=cells, percent=None)

    def maximum_so_far(self, columns: Iterable[TableColumn]) -> float:
        """Return the full points of the columns in which this student has work or a mark that counts.

        The total is out of these: missing work that counts as nothing is in neither.
        """
        return sum(
            column.max_score
            for column in columns
            if (cell := self.cells.get(column.id)) is not None and not cell.is_left_out
        )

    def maximum(self, columns: Iterable[TableColumn]) -> float:
        """Return the full points of the columns that count for this student."""
        return sum(
            column.max_score
            for column in columns
            if (cell := self.cells.get(column.id)) is None or not cell.is_left_out
        )


@dataclass(frozen=True, slots=True)
class StudentResults:
    """One student's results, one per column, and the problems with what was handed in.

    ``in_roster`` is True also where there is no roster; ``without_work`` holds the marks of columns in which
    nothing was handed in: excused, set by hand, or 0 for missing work. Pages show times by the clocks of
    ``zone``, the course's.
    """

    student: str
    name: str = ""
    items: tuple[ItemResult, ...] = ()
    problems: tuple[IntakeProblem, ...] = ()
    in_roster: bool = True
    without_work: tuple[tuple[TableColumn, ColumnMark], ...] = ()
    percent: float | None = None
    zone: tzinfo = UTC

    @property
    def columns(self) -> list[TableColumn]:
        """All columns in which this student has a result or a mark."""
        return [*(item.column for item in self.items), *(column for column, _ in self.without_work)]

    def row(self) -> StudentRow:
        """Return the line of the class table."""
        cells = {
            item.column.id: TableCell(
                item.report.outcome,
                item.report.score,
                # The ids alone: a class table must not hold the reports of a whole class.
                tuple(diagnosis.misconception for diagnosis in item.report.diagnosis),
                item.reason,
                item.mark,
                item.report.needs_person,
                item.is_blank,
            )
            for item in self.items
        }
        # Nothing was handed in, so there is no outcome: the mark alone says why the cell is there.
        cells |= {column.id: TableCell(None, None, mark=mark) for column, mark in self.without_work}
        return StudentRow(self.student, self.name, cells, len(self.problems), self.in_roster, self.percent)


@dataclass(frozen=True, slots=True)
class ClassTable:
    """The class table.

    Parameters
    ----------
    title : str
    columns : tuple of TableColumn
        In order, with titles and full marks.
    rows : tuple of StudentRow
    """

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[StudentRow, ...]

    @property
    def maximum(self) -> float:
        """Sum of all full marks."""
        return sum(column.max_score for column in self.columns)


def class_table(title: str, students: Iterable[StudentResults]) -> ClassTable:
    """Return the table of a class; one student's results are in memory at a time."""
    rows: list[StudentRow] = []
    columns: dict[TableColumn, TableColumn] = {}
    for results in students:
        # Only the row is kept: the results with their reports are let go.
        rows.append(results.row())
        columns |= {column: _larger(columns.get(column), column) for column in results.columns}
    return ClassTable(title, tuple(columns[column] for column in sorted(columns)), tuple(rows))


def mean_percent(rows: Iterable[StudentRow], columns: Iterable[TableColumn]) -> float | None:
    """Return the mean of graded work in these columns, in percent of its full points; None without any."""
    shares = _shares(rows, columns)
    most = sum(full for _, full in shares)
    return 100 * sum(points for points, _ in shares) / most if most else None


def median_percent(rows: Iterable[StudentRow], columns: Iterable[TableColumn]) -> float | None:
    """Return what the student in the middle has, in percent of the full points of their own graded work."""
    shares = [100 * points / full for points, full in _shares(rows, columns) if full]
    return median(shares) if shares else None


def _shares(rows: Iterable[StudentRow], columns: Iterable[TableColumn]) -> list[tuple[float, float]]:
    """Return points and full points of the graded work of each student who has any."""
    # Over graded work alone: with missing work as 0 it would say how many handed in, not how hard it was.
    maxima = {column.id: column.max_score for column in columns}
    shares = []
    for row in rows:
        graded = [
            (cell.counted, maxima[column])
            for column, cell in row.cells.items()
            if column in maxima and cell.counted is not None and not cell.is_left_out
        ]
        if graded:
            shares.append((sum(points for points, _ in graded), sum(full for _, full in graded)))
    return shares


def _larger(known: TableColumn | None, column: TableColumn) -> TableColumn:
    # A report about an exercise that couldn't be loaded doesn't know its full marks.
    return column if known is None or column.max_score > known.max_score else known
