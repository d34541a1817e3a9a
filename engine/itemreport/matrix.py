"""The points of one test as a matrix, and who stands in which row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.analysis import ScoreMatrix
from engine.analysis.scores import Floats
from engine.itemreport.work import Work

__all__ = ["Scores", "scores_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Points of one test.

    Parameters
    ----------
    students : tuple of str
        The rows of the matrix.
    matrix : ScoreMatrix
        A column for each item; the parts of an item are summed in it.
    works : mapping of str to sequence of Work
        By item, in the order of the rows.
    unscored : tuple of str
        Items without points, which are in no figure.
    """

    students: tuple[str, ...]
    matrix: ScoreMatrix
    works: Mapping[str, Sequence[Work]]
    unscored: tuple[str, ...]

    def others(self, item: str) -> Floats:
        """Return how the students who were given an item stand on all other items; NaN without any."""
        column = self.matrix.items.index(item)
        rest = [other for other in self.matrix.items if other != item]
        standing = self.matrix.only(rest).standing()
        return np.asarray(standing[self.matrix.given[:, column]])


def scores_of(works: Sequence[Work]) -> Scores:
    """Return the matrix of first attempts; items in the order of the quiz, students by id."""
    number: dict[str, int] = {}
    full: dict[str, float] = {}
    for work in works:
        number[work.item] = min(number.get(work.item, work.number), work.number)
        full[work.item] = max(full.get(work.item, 0.0), work.full)
    order = sorted(number, key=lambda item: (number[item], item))
    items = [item for item in order if full[item] > 0]
    students = tuple(sorted({work.student for work in works}))
    row = {student: at for at, student in enumerate(students)}
    column = {item: at for at, item in enumerate(items)}
    points = np.full((len(students), len(items)), np.nan)
    by_item: dict[str, list[Work]] = {item: [] for item in items}
    for work in sorted(works, key=lambda work: work.student):
        if work.item in column and work.share is not None:
            points[row[work.student], column[work.item]] = work.share * full[work.item]
            by_item[work.item].append(work)
    unscored = tuple(item for item in order if item not in column)
    return Scores(students, ScoreMatrix(items, points, [full[item] for item in items]), by_item, unscored)
