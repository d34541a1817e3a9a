"""Each item by itself and against the others: how hard it is and how well it tells students apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.analysis.statistics.intervals import correlation_interval, wilson
from engine.analysis.statistics.score_matrix import Floats, ScoreMatrix
from engine.text.words import agree, count_noun

__all__ = [
    "ChoiceTable",
    "ItemStatistics",
    "OptionStatistics",
    "choice_table",
    "correlation",
    "item_statistics",
]

_TAIL = 0.27  # of the class at each end: Kelley 1939


@dataclass(frozen=True, slots=True)
class ItemStatistics:
    """What one item did.

    Parameters
    ----------
    item : str
    students : int
        Who were given it.
    right : int
        Who have full marks.
    difficulty : float or None
        Share of those who have full marks (the usual p: high is easy); None where nobody was given it.
    difficulty_interval : (float, float)
        Wilson's.
    mean_share : float or None
        Mean of points as a share of full marks.
    item_total, item_rest : float or None
        Point-biserial correlation with all items and with all others; None where one of the two is constant.
    item_rest_students : int
        Who were given it and at least one more.
    item_rest_interval : (float, float) or None
        Fisher's.
    upper, lower : float or None
        Mean share of the best and the weakest 27 % of those who were given it.
    """

    item: str
    students: int
    right: int
    difficulty: float | None
    difficulty_interval: tuple[float, float]
    mean_share: float | None
    item_total: float | None
    item_rest: float | None
    item_rest_students: int
    item_rest_interval: tuple[float, float] | None
    upper: float | None
    lower: float | None

    @property
    def index(self) -> float | None:
        """Difference of the upper and the lower 27 %: the discrimination index."""
        return None if self.upper is None or self.lower is None else self.upper - self.lower


def item_statistics(matrix: ScoreMatrix, *, level: float = 0.95) -> tuple[ItemStatistics, ...]:
    """Return the statistics of every item, in the order of the matrix.

    Notes
    -----
    The correlations are with the mean of a student's points, each minus the item's mean, over the items
    that the student was given: a multiple of the total where all have all items. The 27 % are by the
    same mean; who stand equal at the edge are counted in part, so that nothing depends on the order of
    the class.
    """
    given, centred = matrix.given, matrix.centred()
    number, sums = given.sum(axis=1), centred.sum(axis=1)
    standing, right, shares = matrix.standing(), matrix.right, matrix.shares
    found = []
    for column, item in enumerate(matrix.items):
        has = given[:, column]
        more = has & (number > 1)
        rest = (sums - centred[:, column])[more] / (number[more] - 1)
        students, full = int(has.sum()), int(right[has, column].sum())
        item_rest = correlation(matrix.points[more, column], rest)
        upper, lower = _tails(standing[has], shares[has, column])
        found.append(
            ItemStatistics(
                item=item,
                students=students,
                right=full,
                difficulty=full / students if students else None,
                difficulty_interval=wilson(full, students, level=level),
                mean_share=float(shares[has, column].mean()) if students else None,
                item_total=correlation(matrix.points[has, column], standing[has]),
                item_rest=item_rest,
                item_rest_students=int(more.sum()),
                item_rest_interval=None
                if item_rest is None
                else correlation_interval(item_rest, int(more.sum()), level=level),
                upper=upper,
                lower=lower,
            )
        )
    return tuple(found)


def correlation(first: Floats, second: Floats) -> float | None:
    """Return Pearson's correlation of two vectors; None under 3 values or where one is constant."""
    if len(first) < 3:
        return None
    first, second = first - first.mean(), second - second.mean()
    spread = float(np.sqrt((first @ first) * (second @ second)))
    if np.ptp(first) < 1e-9 or np.ptp(second) < 1e-9:
        return None
    return min(1.0, max(-1.0, float(first @ second) / spread))


def _tails(standing: Floats, shares: Floats) -> tuple[float | None, float | None]:
    """Return the mean share of the upper and the lower 27 %."""
    if len(standing) < 2 or np.ptp(standing) == 0:
        return None, None
    return _tail(-standing, shares), _tail(standing, shares)


def _tail(order: Floats, shares: Floats) -> float:
    """Return the mean share of the first 27 % by `order`, equal ones at the edge counted in part."""
    size = _TAIL * len(order)
    _, place, many = np.unique(order, return_inverse=True, return_counts=True)
    before = np.concatenate([[0], np.cumsum(many)[:-1]])
    weight = np.clip((size - before) / many, 0.0, 1.0)[place]
    return float(weight @ shares / weight.sum())


# ----------------------------------------------------------------------------------------------------
# What students chose: each option against how well they did on the other items.


@dataclass(frozen=True, slots=True)
class OptionStatistics:
    """One option of an item.

    Parameters
    ----------
    option : str
        Empty for those who chose nothing.
    name : str
        Name of the misconception behind it, as the caller gave it; empty where there is none.
    is_key : bool
    students : int
        Who chose it.
    share : float
        Of all who were given the item. With several answers allowed the shares may sum to more than 1.
    by_group : tuple of int
        Who chose it in each group, the weakest first.
    point_biserial : float or None
        Correlation of choosing it with the score on the other items: should be above 0 for a key, below for a
        distractor.
    """

    option: str
    name: str
    is_key: bool
    students: int
    share: float
    by_group: tuple[int, ...]
    point_biserial: float | None


@dataclass(frozen=True, slots=True)
class ChoiceTable:
    """Options of an item by groups of students; ``group_sizes`` with the weakest first."""

    choices: tuple[OptionStatistics, ...]
    group_sizes: tuple[int, ...]
    students: int


def choice_table(
    chosen: Sequence[Collection[str]],
    standing: Floats,
    *,
    keys: Collection[str],
    options: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    groups: int = 3,
) -> ChoiceTable:
    """Return who chose which option.

    Parameters
    ----------
    chosen : sequence of collections of str
        The options that each student who was given the item chose; an empty one for a blank answer. Where
        students have variants, options are told apart by what is behind them, such as the misconception.
    standing : array, shape (students,)
        How each did on the other items, such as ``ScoreMatrix.standing`` without this item. NaN for a
        student who had no other item: they count, but are in no group.
    keys : collection of str
        The right options.
    options : sequence of str
        Options in the order in which they're to be listed, also those that nobody chose. Others follow.
    names : mapping of str to str, optional
        Option to name of the misconception.
    groups : int
        Groups of about equal size; students with the same standing are in the same group.
    """
    if len(chosen) != len(standing):
        raise ValueError(
            f"{count_noun(len(chosen), 'answer')} {agree(len(chosen), 'do')}n't fit "
            f"{count_noun(len(standing), 'student')}"
        )
    named = names or {}
    placed = ~np.isnan(standing)
    group = _groups(standing[placed], groups)
    found = sorted({option for answer in chosen for option in answer} - set(options))
    listed = [*options, *found, *([""] if any(not answer for answer in chosen) else [])]
    choices = []
    for option in listed:
        took = np.array([option in answer if option else not answer for answer in chosen], dtype=np.float64)
        choices.append(
            OptionStatistics(
                option=option,
                name=named.get(option, ""),
                is_key=option in keys,
                students=int(took.sum()),
                share=float(took.mean()) if len(took) else 0.0,
                by_group=_counts(group[took[placed] == 1], groups),
                point_biserial=correlation(took[placed], standing[placed]),
            )
        )
    return ChoiceTable(tuple(choices), _counts(group, groups), len(chosen))


def _groups(standing: Floats, groups: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return each student's group, 0 for the weakest: by the middle of the ranks that equal ones share."""
    _, place, many = np.unique(standing, return_inverse=True, return_counts=True)
    middle = np.cumsum(many) - many / 2
    return np.minimum((middle[place] * groups / max(1, len(standing))).astype(np.int64), groups - 1)


def _counts(group: np.ndarray[tuple[int], np.dtype[np.int64]], groups: int) -> tuple[int, ...]:
    return tuple(int(count) for count in np.bincount(group, minlength=groups))
