"""The points of a class at the items of a quiz, from which every statistic starts.

Students need not have the same items: an item that wasn't given is NaN, one that was left blank is 0, and
every statistic says over which students it goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.text.words import agree, count_noun

Floats = npt.NDArray[np.float64]

_CLOSE = 1e-9  # points that differ by less are equal: sums of thirds aren't exact


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMatrix:
    """Points of students at items.

    Parameters
    ----------
    items : sequence of str
        Ids of the items, each once.
    points : array, shape (students, items)
        NaN where a student wasn't given the item. What was given and left blank is 0.
    full : array, shape (items,)
        Points of a right answer, above 0; 1 for every item if left out.

    Raises
    ------
    ValueError
        Shapes that don't fit, an item that appears twice, or points outside 0 to full marks.
    """

    items: tuple[str, ...]
    points: Floats
    full: Floats

    def __init__(self, items: Sequence[str], points: Any, full: Any = None) -> None:
        points = np.array(points, dtype=np.float64)
        full = np.ones(len(items)) if full is None else np.array(full, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != len(items) or full.shape != (len(items),):
            raise ValueError(
                f"{count_noun(len(items), 'item')} {agree(len(items), 'do')}n't fit points "
                f"{points.shape} and full {full.shape}"
            )
        if len(set(items)) < len(items):
            raise ValueError("an item appears twice")
        if not np.all((full > 0) & np.isfinite(full)):
            raise ValueError("full marks must be above 0")
        with np.errstate(invalid="ignore"):
            outside = (points < -_CLOSE) | (points > full + _CLOSE)
        if outside.any():
            raise ValueError("points lie between 0 and full marks")
        points.setflags(write=False)  # frozen like the dataclass: statistics share the arrays
        full.setflags(write=False)
        object.__setattr__(self, "items", tuple(items))
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "full", full)

    @property
    def presented(self) -> npt.NDArray[np.bool_]:
        """Which student was given which item; shape (students, items)."""
        return ~np.isnan(self.points)

    @property
    def is_common(self) -> bool:
        """Whether every student was given every item."""
        return bool(self.presented.all())

    @property
    def shares(self) -> Floats:
        """Points as shares of full marks, 0 to 1; shape (students, items)."""
        return self.points / self.full

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        """Which answers have full marks; shape (students, items)."""
        with np.errstate(invalid="ignore"):
            return self.points >= self.full - _CLOSE

    def relative_scores(self) -> Floats:
        """Return the mean of a student's points minus the item's mean, NaN without items; shape (students,).

        Where all have the same items, it orders students as their totals do; elsewhere nobody ranks lower for
        having had harder items.
        """
        presented = self.presented
        with np.errstate(invalid="ignore"):
            sums = self.centred().sum(axis=1) / presented.sum(axis=1)
        return np.asarray(
            np.round(sums, 12)
        )  # sums in another order differ by rounding: equal totals stay equal

    def centred(self) -> Floats:
        """Return points minus the item's mean, 0 where the item wasn't given; shape (students, items)."""
        presented = self.presented
        sums = np.where(presented, self.points, 0.0).sum(axis=0)
        # an item that nobody had has no mean, and its column stays 0
        means = sums / np.maximum(presented.sum(axis=0), 1)
        return np.where(presented, self.points - means, 0.0)

    def testlets_summed(self, testlets: Mapping[str, str]) -> ScoreMatrix:
        """Return the matrix in which the items of a testlet are one item with the sum of their points.

        Parameters
        ----------
        testlets : mapping of str to str
            Item to the name of its testlet; items that aren't in it stay as they are. A name that equals
            an item outside the testlet is refused (ValueError).

        Notes
        -----
        Answers to questions about one text depend on each other. As separate items they make a test look more
        reliable than it is; their sum is one independent item. A student without all items of a testlet has
        no score there.
        """
        names = [testlets.get(item, item) for item in self.items]
        order = list(dict.fromkeys(names))
        clash = {item for item in self.items if item not in testlets} & set(testlets.values())
        if clash:
            raise ValueError(f"a testlet is named as an item: {sorted(clash)}")
        belongs = np.array([[name == testlet for testlet in order] for name in names], dtype=np.float64)
        belongs = belongs.reshape(len(names), len(order))
        points = np.where(self.presented, self.points, 0.0) @ belongs
        points[(~self.presented).astype(float) @ belongs > 0] = np.nan
        full = self.full @ belongs
        return ScoreMatrix(order, np.minimum(points, full), full)  # sums may exceed full marks by rounding

    def only(self, items: Sequence[str]) -> ScoreMatrix:
        """Return the matrix of these items, in their order."""
        columns = [self.items.index(item) for item in items]
        return ScoreMatrix(items, self.points[:, columns], self.full[columns])

    def dichotomised(self, least: float | None = None) -> tuple[ScoreMatrix, dict[str, str]]:
        """Return right (1) and wrong (0) answers, and the items left out with the reason.

        Parameters
        ----------
        least : float, optional
            Share of full marks, above 0 to 1, from which on an answer with partial credit counts as right.
            Without it items at which somebody has partial credit are left out.
        """
        if least is not None and not 0 < least <= 1:
            raise ValueError("the least share of full marks lies above 0 and at most at 1")
        presented, shares = self.presented, self.shares
        partial = np.asarray((presented & (shares > _CLOSE) & (shares < 1 - _CLOSE)).any(axis=0))
        left_out = {}
        if least is None:
            left_out = {
                item: "it has partial credit" for item, some in zip(self.items, partial, strict=True) if some
            }
        keep = [column for column, item in enumerate(self.items) if item not in left_out]
        with np.errstate(invalid="ignore"):
            right = np.where(presented, shares >= (0.5 if least is None else least) - _CLOSE, np.nan)
        return ScoreMatrix([self.items[column] for column in keep], right[:, keep]), left_out


@dataclass(frozen=True, slots=True)
class ScoreHistogram:
    """Scores as shares of the points that a student could have, in bins of one width.

    Parameters
    ----------
    edges : tuple of float
        One more than bins, from 0 to 1. A bin includes its lower edge, the last one also 1.
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


def score_histogram(matrix: ScoreMatrix, bins: int | None = None) -> ScoreHistogram:
    """Return the histogram of a class, without students who had no item.

    Parameters
    ----------
    matrix : ScoreMatrix
    bins : int, optional
        By default one for each total where marks are whole numbers and there are at most 20 points, else 10.
    """
    presented = matrix.presented
    here = presented.any(axis=1)
    earned = np.where(presented, matrix.points, 0.0).sum(axis=1)[here]
    shares = earned / (presented @ matrix.full)[here]
    if bins is None:
        bins = _fitting(matrix)
    # a share such as 0.3 / 0.1 may lie a rounding error below its edge
    place = np.minimum(np.floor(shares * bins + 1e-9).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins)
    return ScoreHistogram(
        edges=tuple(edge / bins for edge in range(bins + 1)),
        counts=tuple(int(count) for count in counts),
        students=len(shares),
        mean=float(shares.mean()) if len(shares) else None,
        deviation=float(shares.std(ddof=1)) if len(shares) > 1 else None,
        median=float(np.median(shares)) if len(shares) else None,
    )


def _fitting(matrix: ScoreMatrix) -> int:
    total = float(matrix.full.sum())
    whole = np.all(np.mod(matrix.points[matrix.presented], 1) == 0) and np.all(np.mod(matrix.full, 1) == 0)
    # one bin for each total up to 20 points; more bars than that don't fit the width of a page
    return int(total) + 1 if matrix.is_common and whole and 1 <= total <= 20 else 10
