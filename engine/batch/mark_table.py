"""A table of marks that people set: ``student,column,score,comment,excused``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from engine.batch.marking import Decision
from engine.course.delimited import Row, read_delimited
from engine.errors import CourseError, Diagnostic, UsageError
from engine.plurals import counted
from engine.spec.wording import did_you_mean
from engine.store import HandMark

__all__ = ["Decide", "read_marks"]

# student, column, decision → the mark to store, None where it stands already
Decide = Callable[[str, str, Decision], HandMark | None]

_HEADS = ("student", "column", "score", "comment", "excused")
_NUMBER = re.compile(r"\d{1,7}([.,]\d{1,12})?")
_YES_NO = {"": None, "yes": True, "true": True, "1": True, "x": True, "no": False, "false": False, "0": False}


def read_marks(path: Path, decide: Decide) -> tuple[list[HandMark], int, list[Diagnostic]]:
    """Return the marks of a table, how many of its rows stand already, and the faults of the other rows.

    Parameters
    ----------
    path : Path
    decide : callable
        :meth:`engine.batch.marking.MarkDesk.decide`, with who decides and when.

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


def _heads(file: str, head: Row) -> list[str]:
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
    file: str, heads: Sequence[str], rows: Sequence[Row], faults: list[Diagnostic]
) -> Iterator[tuple[Row, dict[str, str]]]:
    """Yield the rows that can be decided about, with their cells by head."""
    seen: dict[tuple[str, str], int] = {}
    for row in rows:
        if len(row.cells) > len(heads) and any(row.cells[len(heads) :]):
            faults.append(
                _fault(file, row, f"{counted(len(row.cells), 'cell')}, but the first line names {len(heads)}")
            )
            continue
        told = dict.fromkeys(_HEADS, "") | dict(zip(heads, row.cells, strict=False))
        place = (told["student"], told["column"])
        if place in seen:
            faults.append(_fault(file, row, f"{place[0]} {place[1]} is in line {seen[place]} already"))
            continue
        seen[place] = row.line
        yield row, told


def _decision(told: dict[str, str]) -> Decision:
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
    return Decision(float(score.replace(",", ".")) if score else None, is_excused, comment or None)


def _fault(file: str, row: Row, message: str) -> Diagnostic:
    return Diagnostic(file, row.line, 1, message, row.source)
