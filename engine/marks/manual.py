"""Marks set by hand: checked before they are stored, one at a time or as a table.

A mark by hand overrides whatever is graded, so it must be about a student and a column that exist, and within
the full points unless the person says that more is meant. A table has the columns
``student,column,score,comment,excused``; a faulty row is reported with its line, the others are read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.course.person_search import near_people
from engine.course.policies import Policies
from engine.course.students import Student
from engine.errors import CourseError, Diagnostic, UsageError
from engine.marks.class_results import ExpectedWork
from engine.marks.class_table import TableColumn
from engine.store import HandMark, Store
from engine.text.tables import TableRow, read_delimited
from engine.text.words import clean_line, count_noun, did_you_mean, plain_points

_LONGEST_COMMENT = 5000  # characters; it goes into pages and into cells of gradebooks
_MOST_POINTS = 1e6  # no exercise gives more: an id in the wrong column would


@dataclass(frozen=True, slots=True)
class ManualDecision:
    """A requested change; None leaves a field as it is.

    Parameters
    ----------
    score : float or None
        Points that count.
    excused : bool or None
    comment : str or None
        For the student; ``""`` removes it.
    """

    score: float | None = None
    excused: bool | None = None
    comment: str | None = None


class ManualMarks:
    """Checks marks by hand and makes them ready to be stored.

    Parameters
    ----------
    store : Store
    students : collection of str
        Ids for which marks can be set.
    code : collection of str
        Ids of code exercises, for suggestions.
    points_of : callable
        Code item → full points, None where there is no such item.
    candidates_of : callable, optional
        A name, an address, or an id that lost its zeros → the ids that it can mean.
    extra_step : str
        What somebody does who means to give more than full points.
    people : mapping of str to Student, optional
        The roster by id, for names that a message suggests.
    """

    def __init__(
        self,
        store: Store,
        students: Collection[str],
        code: Collection[str],
        points_of: Callable[[str], float | None],
        candidates_of: Callable[[str], Sequence[str]] = lambda _: (),
        extra_step: str = "add --allow-extra if that is meant",
        people: Mapping[str, Student] | None = None,
    ) -> None:
        self._people = people or {}
        self._extra_step = extra_step
        self._students = students
        self._candidates_of = candidates_of
        self._code = code
        self._quizzes = store.quiz_names()
        # Without rules: a mark may be set for any column, expected or not.
        self._expected = ExpectedWork(store, Policies(), lambda item: item, points_of)
        self._current: Mapping[tuple[str, str], HandMark] = store.hand_marks.current()

    def decide(
        self,
        student: str,
        column: str,
        decision: ManualDecision,
        *,
        by: str,
        at: datetime,
        allow_extra: bool = False,
    ) -> HandMark | None:
        """Return the mark to store; None where it is set like that already.

        Parameters
        ----------
        student, column : str
            Ids.
        decision : ManualDecision
            Points replace an excuse, and an excuse points.
        by : str
            Who decides.
        at : datetime
        allow_extra : bool
            Let a score be above the full points.

        Raises
        ------
        UsageError
            No such student or column, an impossible score, or a comment that is too long.
        """
        student = self.student(student)
        table_column = self.column(student, column)
        before = self._current.get((student, column))
        score, excused = (before.score, before.excused) if before else (None, False)
        if decision.score is not None:
            self._check_score(decision.score, table_column, allow_extra)
            score, excused = round(decision.score, 6), False  # as precisely as the store keeps points
        if decision.excused is not None:
            score, excused = (None, True) if decision.excused else (score, False)
        comment = (before.comment if before else "") if decision.comment is None else decision.comment
        if len(comment) > _LONGEST_COMMENT:
            raise UsageError("the comment is too long", expected=f"at most {_LONGEST_COMMENT} characters")
        # The same table read twice adds nothing to the history.
        if before and (score, excused, comment) == (before.score, before.excused, before.comment):
            return None
        return HandMark(student, column, score, excused, comment, by, at)

    def withdraw(self, student: str, column: str, *, by: str, at: datetime) -> HandMark:
        """Return the decision that withdraws mark, excuse and comment.

        A :class:`UsageError` if there is none. Student and column needn't be in the course any more.
        """
        if (student, column) not in self._current:
            # Somebody who left the course may still have a mark by hand, so an unknown id is no fault here.
            student = self.student(student, strict=False)
        if (student, column) not in self._current:
            raise UsageError(
                "there is no mark to withdraw",
                where=f"{clean_line(student)} {clean_line(column)}",
                next_step="see the marks set by hand: grade mark list",
            )
        return HandMark(student, column, None, False, "", by, at)

    def student(self, text: str, *, strict: bool = True) -> str:
        """Return the id that a text means; a :class:`UsageError` if it is nobody's or several people's.

        Without `strict` the text itself is returned then.
        """
        ids = (text,) if text in self._students else tuple(self._candidates_of(text))
        if len(ids) == 1:
            return ids[0]
        if not strict:
            return text
        if ids:
            several = " or ".join(clean_line(student, 100) for student in sorted(ids))
            raise UsageError(f"{clean_line(text, 100)!r} can be {several}", next_step="give the id")
        people = [self._people.get(each) or Student(each) for each in sorted(self._students)]
        near = near_people(text, people)
        raise UsageError(f"no student {clean_line(text, 100)!r} is in this course{near}")

    def column(self, student: str, column: str) -> TableColumn:
        """Return a column of a student; a :class:`UsageError` with near names where there is none.

        Parameters
        ----------
        student : str
            Students have quizzes of their own, so a column may be one student's alone.
        column : str
            The id of a code exercise, or ``QUIZ/ITEM``.

        Raises
        ------
        UsageError
            There is no such column; the message names near ones.
        """
        student = self.student(student)
        # week-1/item is a question of a quiz, softmax a code exercise.
        name, is_question, _ = column.partition("/")
        columns = {each.id: each for each in self._expected.columns(name, student, {})}
        if column in columns:
            return columns[column]
        if name in self._quizzes and not columns:
            raise UsageError(f"{student} has no quiz {name!r}", next_step="see who has: grade quiz deadline")
        known = sorted(columns) if is_question or columns else [*self._quizzes, *self._code]
        near = did_you_mean(column, known)
        raise UsageError(
            f"there is no column {clean_line(column, 200)!r}{near}",
            expected="the id of a code exercise, or QUIZ/ITEM, as in the gradebook",
        )

    def _check_score(self, score: float, column: TableColumn, allow_extra: bool) -> None:
        full = plain_points(column.max_score)
        if not math.isfinite(score) or not 0 <= score <= _MOST_POINTS:
            raise UsageError("this isn't a possible score", expected=f"0 to {full}", got=f"{score:g}")
        if score > column.max_score and not allow_extra:
            raise UsageError(
                f"{column.id} has {count_noun(full, 'point')}, and {plain_points(score)} are more",
                next_step=self._extra_step,
            )


# student, column, decision → the mark to store, None where it is set like that already
Decide = Callable[[str, str, ManualDecision], HandMark | None]

_HEADS = ("student", "column", "score", "comment", "excused")
# A decimal comma is fine; a sign, an exponent or a thousands separator is a slip in a column of marks.
_NUMBER = re.compile(r"\d{1,7}([.,]\d{1,12})?")
_YES_NO = {"": None, "yes": True, "true": True, "1": True, "x": True, "no": False, "false": False, "0": False}


def read_marks(path: Path, decide: Decide) -> tuple[list[HandMark], int, list[Diagnostic]]:
    """Return the marks of a table, how many rows are set like that already, and the faults of the others.

    Parameters
    ----------
    path : Path
    decide : callable
        :meth:`ManualMarks.decide`, with who decides and when.

    Raises
    ------
    CourseError
        The file can't be read, or its first line doesn't name the columns.
    """
    table = read_delimited(path, noun="the table of marks", error=CourseError)
    if not table.rows:
        raise CourseError("the table of marks is empty", where=f"{path}:1", expected=",".join(_HEADS))
    head, *rows = table.rows
    heads = _heads(table.file, head)
    faults = list(table.faults)
    marks: list[HandMark] = []
    unchanged = 0
    for row, cells in _valid_rows(table.file, heads, rows, faults):
        try:
            mark = decide(cells["student"], cells["column"], _decision(cells))
        except UsageError as error:
            faults.append(_fault(table.file, row, "; ".join(filter(None, (error.what, error.expected)))))
            continue
        if mark is None:
            unchanged += 1
        else:
            marks.append(mark)
    return marks, unchanged, sorted(faults, key=lambda fault: fault.line)


def _heads(file: str, head: TableRow) -> list[str]:
    heads = [cell.casefold() for cell in head.cells]
    problem = ""
    for name in heads:
        if name and name not in _HEADS:
            problem = f"column '{name[:40]}' isn't known{did_you_mean(name, _HEADS)}"
        elif name and heads.count(name) > 1:
            problem = f"column '{name}' appears twice"
    missing = [name for name in ("student", "column") if name not in heads]
    if missing:
        problem = f"the first line must name the columns, `{missing[0]}` among them: {','.join(_HEADS)}"
    if problem:
        raise CourseError.of_file([_fault(file, head, problem)])
    return heads


def _valid_rows(
    file: str, heads: Sequence[str], rows: Sequence[TableRow], faults: list[Diagnostic]
) -> Iterator[tuple[TableRow, dict[str, str]]]:
    """Yield the rows of the right form, with their cells by head; the faults of the others go to `faults`."""
    lines: dict[tuple[str, str], int] = {}
    for row in rows:
        if len(row.cells) > len(heads) and any(row.cells[len(heads) :]):
            message = f"{count_noun(len(row.cells), 'cell')}, but the first line names {len(heads)}"
            faults.append(_fault(file, row, message))
            continue
        cells = dict.fromkeys(_HEADS, "") | dict(zip(heads, row.cells, strict=False))
        key = (cells["student"], cells["column"])
        if key in lines:
            faults.append(_fault(file, row, f"{key[0]} {key[1]} is in line {lines[key]} already"))
            continue
        lines[key] = row.line
        yield row, cells


def _decision(cells: dict[str, str]) -> ManualDecision:
    score, comment, excused = (cells[name] for name in ("score", "comment", "excused"))
    if excused.casefold() not in _YES_NO:
        raise UsageError(f"excused is {excused[:40]!r}", expected="yes, no, or nothing")
    is_excused = _YES_NO[excused.casefold()]
    if score and not _NUMBER.fullmatch(score):
        raise UsageError(f"the score is {score[:40]!r}", expected="a number such as 7.5, or nothing")
    if score and is_excused:
        raise UsageError("there is a score, and the student is excused", expected="one of the two")
    if not (score or comment or excused):
        raise UsageError("this line says nothing", expected="a score, a comment or excused")
    return ManualDecision(float(score.replace(",", ".")) if score else None, is_excused, comment or None)


def _fault(file: str, row: TableRow, message: str) -> Diagnostic:
    return Diagnostic(file, row.line, 1, message, row.source)
