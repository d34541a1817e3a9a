"""What one student has under one heading."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from engine.course import Cell, Column, StudentRow
from engine.foreign import clean_line
from engine.gradebooks.targets import Target
from engine.model import Outcome

__all__ = ["Entry", "State", "comment_of", "entry_of"]


class State(StrEnum):
    """What an entry is; only points are a number, and none of the others is a 0."""

    POINTS = "points"
    EXCUSED = "excused"
    MISSING = "missing"
    UNGRADED = "ungraded"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Entry:
    """What a student has under a heading.

    Parameters
    ----------
    state : State
    points : float or None
    scaled_from : (float, float) or None
        Points and full points before they were scaled, where a part is left out for this student only.
    unread : tuple of str
        Ids of the columns whose hand-in can't be read, and that count for nothing.
    """

    state: State
    points: float | None = None
    scaled_from: tuple[float, float] | None = None
    unread: tuple[str, ...] = ()


def entry_of(row: StudentRow, target: Target, *, scaled: bool = True) -> Entry:
    """Return what a student has under a heading.

    A sum isn't known while a part of it is ungraded. What is excused (or, in a sum, dropped) is left out.

    Parameters
    ----------
    row : StudentRow
    target : Target
    scaled : bool
        Whether the heading has full points in a learning system: where fewer count for this student, the rest
        stands for the whole. Otherwise the sum is the one that pages show.
    """
    if target.is_percent:
        return _percent(row)
    cells = [(column, row.cells.get(column.id)) for column in target.columns]
    kept = [(column, cell) for column, cell in cells if cell is None or not _is_excused(cell)]
    if not kept and cells:
        return Entry(State.EXCUSED)
    # A dropped mark is left out of sums; alone under its heading it is the student's mark.
    kept = [one for one in kept if one[1] is None or not one[1].is_left_out] or kept
    if any(cell is not None and cell.is_waiting for _, cell in kept):
        return Entry(State.UNGRADED)
    unread = tuple(column.id for column, cell in kept if cell is not None and _is_unread(cell))
    counted = [cell.counted for _, cell in kept if cell is not None and cell.counted is not None]
    if not counted:
        return Entry(State.UNREADABLE if unread else State.MISSING, unread=unread)
    points = round(math.fsum(counted), 6)
    full = sum(column.max_score for column, _ in kept)
    if not scaled or not 0 < full < target.maximum:
        return Entry(State.POINTS, points, unread=unread)
    whole = float(round(Fraction(points) * Fraction(target.maximum) / Fraction(full), 6))
    return Entry(State.POINTS, whole, (points, full), unread)


def comment_of(row: StudentRow, columns: Sequence[Column]) -> str:
    """Return why marks are what they are, and what people wrote about them, in one line."""
    told = []
    for column in columns:
        mark = cell.mark if (cell := row.cells.get(column.id)) is not None else None
        if mark is not None and mark.reasons:
            head = f"{column.item}: " if len(columns) > 1 else ""
            told.append(head + "; ".join(clean_line(reason, 2_000) for reason in mark.reasons))
    return ". ".join(told)


def _percent(row: StudentRow) -> Entry:
    if row.percent is not None:
        return Entry(State.POINTS, row.percent)
    return Entry(State.UNGRADED if row.is_waiting else State.MISSING)


def _is_excused(cell: Cell) -> bool:
    return cell.mark is not None and cell.mark.excused


def _is_unread(cell: Cell) -> bool:
    return cell.outcome is Outcome.FORMAT_ERROR and cell.counted is None
