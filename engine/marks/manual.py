"""Marks that people set: for students and columns that exist, within the full points."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.course.policies import Policies
from engine.errors import CourseError, Diagnostic, UsageError
from engine.marks.class_results import ExpectedWork
from engine.marks.results import TableColumn
from engine.store import HandMark, Store
from engine.text.escape import clean_line
from engine.text.tables import TableRow, read_delimited
from engine.text.words import count_noun, did_you_mean, plain_points

__all__ = ["Decide", "ManualDecision", "MarkDesk", "read_marks"]

_LONGEST_COMMENT = 5000


@dataclass(frozen=True, slots=True)
class ManualDecision:
    """What somebody wants to be so; what is None stays as it was.

    Parameters
    ----------
    score : float or None
        Points that count.
    excused : bool or None
    comment : str or None
        For the student; ``""`` takes one away.
    """

    score: float | None = None
    excused: bool | None = None
    comment: str | None = None


class MarkDesk:
    """Checks decisions before they are stored.

    Parameters
    ----------
    store : Store
    students : collection of str
        Whom marks can be set for.
    code : collection of str
        Ids of code exercises, for suggestions.
    points_of : callable
        Code item → full points, None where there is no such item.
    meant : callable, optional
        What somebody typed for a student → the ids that it can mean, as tables of answers are read: a name,
        an address, or an id that has lost its zeros.
    """

    def __init__(
        self,
        store: Store,
        students: Collection[str],
        code: Collection[str],
        points_of: Callable[[str], float | None],
        meant: Callable[[str], Sequence[str]] = lambda _: (),
    ) -> None:
        self._students = students
        self._meant = meant
        self._code = code
        self._quizzes = store.quiz_names()
        self._expected = ExpectedWork(store, Policies(), lambda item: item, points_of)
        self._standing: Mapping[tuple[str, str], HandMark] = store.hand_marks.standing()

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
        """Return the mark to store, None where it stands already.

        Parameters
        ----------
        student, column : str
            Ids.
        decision : ManualDecision
            Points and an excuse take each other's place.
        by : str
            Who decides.
        at : datetime
        allow_extra : bool
            Let a score be above the full points.

        Raises
        ------
        UsageError
            No such student or column, a score that can't be, a comment that is too long.
        """
        student = self.student(student)
        found = self.column(student, column)
        before = self._standing.get((student, column))
        score, excused = (before.score, before.excused) if before else (None, False)
        if decision.score is not None:
            _check_score(decision.score, found, allow_extra)
            score, excused = round(decision.score, 6), False
        if decision.excused is not None:
            score, excused = (None, True) if decision.excused else (score, False)
        comment = (before.comment if before else "") if decision.comment is None else decision.comment
        if len(comment) > _LONGEST_COMMENT:
            raise UsageError("the comment is too long", expected=f"at most {_LONGEST_COMMENT} characters")
        if before and (score, excused, comment) == (before.score, before.excused, before.comment):
            return None
        return HandMark(student, column, score, excused, comment, by, at)

    def withdraw(self, student: str, column: str, *, by: str, at: datetime) -> HandMark:
        """Return what takes a mark, an excuse and a comment back; a :class:`UsageError` if there is none.

        Student and column needn't be in the course any more.
        """
        if (student, column) not in self._standing:
            student = self.student(student, strict=False)
        if (student, column) not in self._standing:
            raise UsageError(
                "there is nothing to take back",
                where=f"{clean_line(student)} {clean_line(column)}",
                next_step="see what stands: grade mark list",
            )
        return HandMark(student, column, None, False, "", by, at)

    def student(self, text: str, *, strict: bool = True) -> str:
        """Return the id that was meant; a :class:`UsageError` if it is nobody's or several people's.

        Without `strict` the text itself then.
        """
        found = (text,) if text in self._students else tuple(self._meant(text))
        if len(found) == 1:
            return found[0]
        if not strict:
            return text
        if found:
            who = " or ".join(clean_line(one, 100) for one in sorted(found))
            raise UsageError(f"{clean_line(text, 100)!r} can be {who}", next_step="give the id")
        near = did_you_mean(text, sorted(self._students))
        raise UsageError(f"no student {clean_line(text, 100)!r} is in this course{near}")

    def column(self, student: str, column: str) -> TableColumn:
        """Return a column of a student; a :class:`UsageError` where there is none, with near names."""
        student = self.student(student)
        name, is_question, _ = column.partition("/")
        found = {one.id: one for one in self._expected.columns(name, student, {})}
        if column in found:
            return found[column]
        if name in self._quizzes and not found:
            raise UsageError(f"{student} has no quiz {name!r}", next_step="see who has: grade quiz deadline")
        known = sorted(found) if is_question or found else [*self._quizzes, *self._code]
        near = did_you_mean(column, known)
        raise UsageError(
            f"there is no column {clean_line(column, 200)!r}{near}",
            expected="the id of a code exercise, or QUIZ/ITEM, as in the gradebook",
        )


def _check_score(score: float, column: TableColumn, allow_extra: bool) -> None:
    full = plain_points(column.max_score)
    if not math.isfinite(score) or score < 0 or score > 1e6:
        raise UsageError("this is no score", expected=f"0 to {full}", got=f"{score:g}")
    if score > column.max_score and not allow_extra:
        raise UsageError(
            f"{column.id} has {count_noun(full, 'point')}, and {plain_points(score)} are more",
            next_step="add --allow-extra if that is meant",
        )


# ----------------------------------------------------------------------------------------------------
# A table of marks that people set: ``student,column,score,comment,excused``.

# student, column, decision → the mark to store, None where it stands already
Decide = Callable[[str, str, ManualDecision], HandMark | None]

_HEADS = ("student", "column", "score", "comment", "excused")
_NUMBER = re.compile(r"\d{1,7}([.,]\d{1,12})?")
_YES_NO = {"": None, "yes": True, "true": True, "1": True, "x": True, "no": False, "false": False, "0": False}


def read_marks(path: Path, decide: Decide) -> tuple[list[HandMark], int, list[Diagnostic]]:
    """Return the marks of a table, how many of its rows stand already, and the faults of the other rows.

    Parameters
    ----------
    path : Path
    decide : callable
        :meth:`engine.marks.manual.MarkDesk.decide`, with who decides and when.

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
    stand = 0
    for row, told in _checked(table.file, heads, rows, faults):
        try:
            mark = decide(told["student"], told["column"], _decision(told))
        except UsageError as error:
            faults.append(_fault(table.file, row, "; ".join(filter(None, (error.what, error.expected)))))
            continue
        if mark is None:
            stand += 1
        else:
            marks.append(mark)
    return marks, stand, sorted(faults, key=lambda fault: fault.line)


def _heads(file: str, head: TableRow) -> list[str]:
    heads = [cell.casefold() for cell in head.cells]
    problem = ""
    for name in heads:
        if name and name not in _HEADS:
            problem = f"column '{name[:40]}' isn't known{did_you_mean(name, _HEADS)}"
        elif name and heads.count(name) > 1:
            problem = f"column '{name}' stands twice"
    missing = [name for name in ("student", "column") if name not in heads]
    if missing:
        problem = f"the first line must name the columns, `{missing[0]}` among them: {','.join(_HEADS)}"
    if problem:
        raise CourseError.of_file([_fault(file, head, problem)])
    return heads


def _checked(
    file: str, heads: Sequence[str], rows: Sequence[TableRow], faults: list[Diagnostic]
) -> Iterator[tuple[TableRow, dict[str, str]]]:
    """Yield the rows that can be decided about, with their cells by head."""
    seen: dict[tuple[str, str], int] = {}
    for row in rows:
        if len(row.cells) > len(heads) and any(row.cells[len(heads) :]):
            faults.append(
                _fault(
                    file, row, f"{count_noun(len(row.cells), 'cell')}, but the first line names {len(heads)}"
                )
            )
            continue
        told = dict.fromkeys(_HEADS, "") | dict(zip(heads, row.cells, strict=False))
        place = (told["student"], told["column"])
        if place in seen:
            faults.append(_fault(file, row, f"{place[0]} {place[1]} is in line {seen[place]} already"))
            continue
        seen[place] = row.line
        yield row, told


def _decision(told: dict[str, str]) -> ManualDecision:
    score, comment, excused = (told[name] for name in ("score", "comment", "excused"))
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
