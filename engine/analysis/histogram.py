"""How the class's scores are spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.analysis.scores import ScoreMatrix

__all__ = ["Histogram", "score_histogram"]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Scores as shares of the points that a student could have, in bins of one width.

    Parameters
    ----------
    edges : tuple of float
        One more than there are bins, from 0 to 1. A bin holds its lower edge; the last one holds 1 as well.
    counts : tuple of int
        Students in each bin.
    students : int
    mean, deviation, median : float or None
        Of the shares; the deviation with n − 1, None under 2 students.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    students: int
    mean: float | None
    deviation: float | None
    median: float | None


def score_histogram(matrix: ScoreMatrix, bins: int | None = None) -> Histogram:
    """Return the histogram of a class; who were given no item are left out.

    Parameters
    ----------
    matrix : ScoreMatrix
    bins : int, optional
        If left out, one for each total where all marks are whole and 20 at most can be had, and 10 elsewhere.
    """
    given = matrix.given
    here = given.any(axis=1)
    earned = np.where(given, matrix.points, 0.0).sum(axis=1)[here]
    shares = earned / (given @ matrix.full)[here]
    if bins is None:
        bins = _fitting(matrix)
    # a share such as 0.3 / 0.1 may lie a rounding error below its edge
    place = np.minimum(np.floor(shares * bins + 1e-9).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    return Histogram(
        edges=tuple(edge / bins for edge in range(bins + 1)),
        counts=tuple(int(count) for count in counts),
        students=len(shares),
        mean=float(shares.mean()) if len(shares) else None,
        deviation=float(shares.std(ddof=1)) if len(shares) > 1 else None,
        median=float(np.median(shares)) if len(shares) else None,
    )


def _fitting(matrix: ScoreMatrix) -> int:
    total = float(matrix.full.sum())
    whole = np.all(np.mod(matrix.points[matrix.given], 1) == 0) and np.all(np.mod(matrix.full, 1) == 0)
    return int(total) + 1 if matrix.is_common and whole and 1 <= total <= 20 else 10
