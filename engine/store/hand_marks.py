"""What a person decides about a mark: it stands above what was graded, and survives regrades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from engine.crash_points import reached
from engine.store.codec import storable
from engine.store.database import Database
from engine.store.tables import hand_marks

__all__ = ["HandMark", "HandMarks"]


@dataclass(frozen=True, slots=True)
class HandMark:
    """One decision about one student's mark in one column.

    Parameters
    ----------
    student : str
    column : str
        As in the gradebook: ``quiz/item`` or a code item's id.
    score : float or None
        The points that count; None leaves the graded ones.
    excused : bool
        Whether the column is left out for this student.
    comment : str
        For the student to read; may be empty.
    by : str
        Who decided.
    at : datetime
        With time zone.
    """

    student: str
    column: str
    score: float | None
    excused: bool
    comment: str
    by: str
    at: datetime


class HandMarks:
    """Decisions are only ever added; the newest about a student and column holds."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, mark: HandMark) -> None:
        """Keep a decision; one without score, excuse and comment takes the earlier ones back."""
        self.add_all([mark])

    def add_all(self, marks: Sequence[HandMark]) -> None:
        """Keep several decisions in one transaction: all of them or none."""
        rows = [
            {
                "student": mark.student,
                "column": mark.column,
                "score": mark.score,
                "excused": mark.excused,
                "comment": storable(mark.comment),
                "by": storable(mark.by, 200),
                "at": mark.at,
            }
            for mark in marks
        ]
        with self._database.write() as connection:
            for row in rows:
                connection.execute(sa.insert(hand_marks), row)
                reached("in-hand-mark")

    def history(self, *, student: str | None = None, column: str | None = None) -> list[HandMark]:
        """Return all decisions that fit, oldest first."""
        query = sa.select(hand_marks).order_by(hand_marks.c.id)
        if student is not None:
            query = query.where(hand_marks.c.student == student)
        if column is not None:
            query = query.where(hand_marks.c.column == column)
        with self._database.read() as connection:
            rows = connection.execute(query).mappings().all()
        return [HandMark(**{name: value for name, value in row.items() if name != "id"}) for row in rows]

    def standing(self) -> Mapping[tuple[str, str], HandMark]:
        """Return the decisions that hold now, by (student, column); those taken back are left out."""
        newest = {(mark.student, mark.column): mark for mark in self.history()}
        return {
            place: mark
            for place, mark in newest.items()
            if mark.score is not None or mark.excused or mark.comment
        }
