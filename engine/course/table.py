"""The table of a whole class, from the results of its students."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.course.results import Column, StudentResults, StudentRow

__all__ = ["ClassTable", "class_table"]


@dataclass(frozen=True, slots=True)
class ClassTable:
    """The class table.

    Parameters
    ----------
    title : str
    columns : tuple of Column
        In order, with titles and full marks.
    rows : tuple of StudentRow
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[StudentRow, ...]

    @property
    def maximum(self) -> float:
        """Sum of all full marks."""
        return sum(column.max_score for column in self.columns)


def class_table(title: str, students: Iterable[StudentResults]) -> ClassTable:
    """Return the table of a class; one student's results are in memory at a time."""
    rows: list[StudentRow] = []
    columns: dict[Column, Column] = {}
    for results in students:
        rows.append(results.row())
        columns |= {column: _larger(columns.get(column), column) for column in results.columns}
    return ClassTable(title, tuple(columns[column] for column in sorted(columns)), tuple(rows))


def _larger(known: Column | None, column: Column) -> Column:
    # A report about an exercise that couldn't be loaded doesn't know its full marks.
    return column if known is None or column.max_score > known.max_score else known
