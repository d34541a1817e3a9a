"""How reliable a test is as a whole: alpha, its interval, and the standard error of a score."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.analysis.statistics.intervals import f_quantile, normal_quantile
from engine.analysis.statistics.score_matrix import Floats, ScoreMatrix


@dataclass(frozen=True, slots=True, eq=False)
class PairSums:
    """Sums over the students who were given both items of a pair; arrays of shape (items, items).

    ``sums[i, j]`` is of item i over those who have j as well. All are sums over students, so that those of
    single students can be subtracted: the jackknife needs no second pass over the class.
    """

    count: Floats
    sums: Floats
    products: Floats

    def __sub__(self, other: PairSums) -> PairSums:
        return PairSums(self.count - other.count, self.sums - other.sums, self.products - other.products)

    def covariance(self) -> Floats:
        """Return covariances (n − 1 in the denominator), variances on the diagonal; NaN under 2 students."""
        enough = np.where(self.count > 1, self.count, np.nan)
        return np.asarray((self.products - self.sums * self.sums.T / enough) / (enough - 1))


@dataclass(frozen=True, slots=True, eq=False)
class ItemPairs:
    """Every pair of items over the students who were given both; arrays of shape (items, items).

    Parameters
    ----------
    items : tuple of str
    count : array
        Students with both; on the diagonal those with the item.
    covariance, correlation : array
        In points; NaN under 2 students, and no correlation where one of them has the same points for all.
    """

    items: tuple[str, ...]
    count: Floats
    covariance: Floats
    correlation: Floats


def pair_sums(matrix: ScoreMatrix) -> PairSums:
    """Return the sums of a class, with points measured from each item's mean."""
    presented = matrix.presented.astype(np.float64)
    centred = matrix.centred()
    return PairSums(presented.T @ presented, centred.T @ presented, centred.T @ centred)


def pairwise(matrix: ScoreMatrix) -> ItemPairs:
    """Return counts, covariances and correlations of all pairs of items."""
    sums = pair_sums(matrix)
    covariance = sums.covariance()
    # variances of item i over those who have j as well
    squares = (matrix.centred() ** 2).T @ matrix.presented.astype(np.float64)
    enough = np.where(sums.count > 1, sums.count, np.nan)
    variance = (squares - sums.sums**2 / enough) / (enough - 1)
    variance[variance <= 1e-12 * matrix.full[:, None] ** 2] = np.nan  # constant except for rounding
    correlation = np.clip(covariance / np.sqrt(variance * variance.T), -1.0, 1.0)
    return ItemPairs(matrix.items, sums.count, covariance, correlation)


@dataclass(frozen=True, slots=True)
class ReliabilityEstimate:
    """Cronbach's alpha with the data behind it.

    Parameters
    ----------
    alpha : float or None
        None where it isn't defined: under 2 items or 2 students, no differences, or pairs of items over
        different students that contradict each other.
    interval : (float, float) or None
        Feldt's where all students have all items, elsewhere by the jackknife.
    standard_error : float or None
        Standard error of measurement of one student's points in this test.
    length : float
        Mean number of items of a student: alpha is that of a test of this length.
    students : int
        Those with at least one item.
    fewest : int
        Students of the pair of items that the fewest students have.
    unseen_pairs : int
        Pairs of items that fewer than 2 students have; they say nothing.
    if_deleted : tuple of (float or None)
        Alpha without each item, in the order of the matrix.
    """

    alpha: float | None
    interval: tuple[float, float] | None
    standard_error: float | None
    length: float
    students: int
    fewest: int
    unseen_pairs: int
    if_deleted: tuple[float | None, ...]


def reliability(matrix: ScoreMatrix, *, level: float | None = 0.95) -> ReliabilityEstimate:
    """Return alpha, its interval (none without a level) and the standard error of measurement.

    Notes
    -----
    With v the mean variance of an item, c the mean covariance of two items and L the number of items of a
    test, ``alpha = L c / (v + (L - 1) c)`` and ``standard error = sqrt(L (v - c))``. Where all have all items
    this is the usual alpha. Elsewhere v and c are means over the items and pairs that students really had,
    each pair counted as often as it was given.
    """
    sums = pair_sums(matrix)
    students = int(matrix.presented.any(axis=1).sum())
    parts = _parts(sums, students)
    pairs = sums.count[np.triu_indices(len(matrix.items), 1)]
    everything = np.arange(len(matrix.items))
    without = [everything != column for column in everything]
    deleted = tuple(
        _alpha(_parts(_of(sums, keep), int(matrix.presented[:, keep].any(axis=1).sum()))) for keep in without
    )
    alpha, error = _alpha(parts), None
    if alpha is not None:
        length, variance, covariance = parts
        # pairs over different students may make the difference a little negative
        error = math.sqrt(max(0.0, length * (variance - covariance)))
    return ReliabilityEstimate(
        alpha=alpha,
        interval=None if alpha is None or level is None else _interval(matrix, sums, alpha, level),
        standard_error=error,
        length=parts[0],
        students=students,
        fewest=int(pairs.min()) if len(pairs) else 0,
        unseen_pairs=int((pairs < 2).sum()),
        if_deleted=deleted,
    )


def _of(sums: PairSums, keep: Floats) -> PairSums:
    chosen = np.ix_(keep, keep)
    return PairSums(sums.count[chosen], sums.sums[chosen], sums.products[chosen])


def _parts(sums: PairSums, students: int) -> tuple[float, float, float]:
    """Return length, mean variance and mean covariance of the tests that students had."""
    covariance, count = sums.covariance(), np.where(sums.count > 1, sums.count, 0.0)
    diagonal = np.eye(len(count), dtype=bool)
    length = float(np.trace(sums.count)) / students if students else 0.0
    return (
        length,
        _mean(covariance[diagonal], count[diagonal]),
        _mean(covariance[~diagonal], count[~diagonal]),
    )


def _mean(values: Floats, weights: Floats) -> float:
    total = float(weights.sum())
    return float(np.where(weights > 0, values, 0.0) @ weights) / total if total else math.nan


def _alpha(parts: tuple[float, float, float]) -> float | None:
    length, variance, covariance = parts
    whole = variance + (length - 1) * covariance
    # alpha says nothing of a test in which students differ by nothing but rounding, nor where pairs over
    # different students contradict each other: no two items go together better than one with itself
    if not length > 1 or not whole > 1e-12 * max(variance, 1e-300) or covariance > variance * (1 + 1e-9):
        return None
    return length * covariance / whole


def _interval(matrix: ScoreMatrix, sums: PairSums, alpha: float, level: float) -> tuple[float, float] | None:
    students, items = matrix.points.shape
    if alpha >= 1 or students < 3:  # on the scale of ln(1 − alpha) a perfect test lies at infinity
        return None
    tail = (1 - level) / 2
    if matrix.is_common:
        df1, df2 = students - 1, (students - 1) * (items - 1)
        above, below = (f_quantile(share, df1, df2) for share in (1 - tail, tail))
        return 1 - (1 - alpha) * above, 1 - (1 - alpha) * below
    return _jackknife(matrix, sums, alpha, normal_quantile(1 - tail))


def _jackknife(matrix: ScoreMatrix, sums: PairSums, alpha: float, z: float) -> tuple[float, float] | None:
    """Return the interval from leaving out one student at a time, on the scale of ln(1 − alpha)."""
    presented, centred = matrix.presented.astype(np.float64), matrix.centred()
    here = presented.any(axis=1)
    students = int(here.sum())
    logs = []
    for was_given, points in zip(presented[here], centred[here], strict=True):
        left_out = PairSums(
            np.outer(was_given, was_given), np.outer(points, was_given), np.outer(points, points)
        )
        without = _alpha(_parts(sums - left_out, students - 1))
        if without is None or without >= 1:
            return None
        logs.append(math.log(1 - without))
    spread = math.sqrt((students - 1) * float(np.var(logs)))  # the jackknife's standard error
    middle = math.log(1 - alpha)
    return 1 - math.exp(middle + z * spread), 1 - math.exp(middle - z * spread)
