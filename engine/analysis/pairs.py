"""Two items at a time: how they go together, over the students who were given both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.analysis.scores import Floats, ScoreMatrix

__all__ = ["PairSums", "Pairs", "pair_sums", "pairwise"]


@dataclass(frozen=True, slots=True, eq=False)
class PairSums:
    """Sums over the students who were given both items of a pair; arrays of shape (items, items).

    ``sums[i, j]`` is of item i over those who have j as well. All are sums over students, so that those of a
    part of the class can be subtracted.
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
class Pairs:
    """Every pair of items over the students who were given both; arrays of shape (items, items).

    Parameters
    ----------
    count : array
        Students who were given both; on the diagonal those who were given the item.
    covariance, correlation : array
        In points; NaN under 2 students, and no correlation where one of them has the same points for all.
    """

    items: tuple[str, ...]
    count: Floats
    covariance: Floats
    correlation: Floats


def pair_sums(matrix: ScoreMatrix) -> PairSums:
    """Return the sums of a class, with points measured from each item's mean."""
    given = matrix.given.astype(np.float64)
    centred = matrix.centred()
    return PairSums(given.T @ given, centred.T @ given, centred.T @ centred)


def pairwise(matrix: ScoreMatrix) -> Pairs:
    """Return counts, covariances and correlations of all pairs of items."""
    sums = pair_sums(matrix)
    covariance = sums.covariance()
    # variances of item i over those who have j as well
    squares = (matrix.centred() ** 2).T @ matrix.given.astype(np.float64)
    enough = np.where(sums.count > 1, sums.count, np.nan)
    variance = (squares - sums.sums**2 / enough) / (enough - 1)
    variance[variance <= 1e-12 * matrix.full[:, None] ** 2] = np.nan
    correlation = np.clip(covariance / np.sqrt(variance * variance.T), -1.0, 1.0)
    return Pairs(matrix.items, sums.count, covariance, correlation)
