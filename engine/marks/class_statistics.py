"""Figures about a class: how graded work did, whatever is still missing."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from engine.marks.class_table import StudentRow, TableColumn


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
