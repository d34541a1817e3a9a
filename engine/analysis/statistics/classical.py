"""Classical statistics of an item: difficulty, discrimination, and who chose which option."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.analysis.statistics.intervals import correlation_interval, wilson
from engine.analysis.statistics.score_matrix import Floats, ScoreMatrix
from engine.text.words import agree, count_noun

_TAIL = 0.27  # of the class at each end: Kelley 1939


@dataclass(frozen=True, slots=True)
class ItemStatistics:
    """The classical statistics of one item.

    Parameters
    ----------
    item : str
    students : int
        Those who had it.
    right : int
        Those with full marks.
    difficulty : float or None
        Share of students with full marks (the usual p: high is easy); None where nobody had the item.
    difficulty_interval : (float, float)
        Wilson's.
    mean_share : float or None
        Mean of points as a share of full marks.
    item_total, item_rest : float or None
        Point-biserial correlation with all items and with all others; None where one of the two is constant.
    item_rest_students : int
        Those who had it and at least one other item.
    item_rest_interval : (float, float) or None
        Fisher's.
    upper, lower : float or None
        Mean share of the best and the weakest 27 % of those who had it.
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
    that the student had: a multiple of the total where all have all items. The 27 % are by the same mean;
    students who are equal at the edge count in part, so that nothing depends on the order of the class.
    """
    was_given, centred = matrix.presented, matrix.centred()
    number, sums = was_given.sum(axis=1), centred.sum(axis=1)
    relative, right, shares = matrix.relative_scores(), matrix.right, matrix.shares
    statistics = []
    for column, item in enumerate(matrix.items):
        has = was_given[:, column]
        more = has & (number > 1)
        # without the item itself, which would raise its own correlation, most of all in a short test
        rest = (sums - centred[:, column])[more] / (number[more] - 1)
        students, full = int(has.sum()), int(right[has, column].sum())
        item_rest = correlation(matrix.points[more, column], rest)
        upper, lower = _tails(relative[has], shares[has, column])
        statistics.append(
            ItemStatistics(
                item=item,
                students=students,
                right=full,
                difficulty=full / students if students else None,
                difficulty_interval=wilson(full, students, level=level),
                mean_share=float(shares[has, column].mean()) if students else None,
                item_total=correlation(matrix.points[has, column], relative[has]),
                item_rest=item_rest,
                item_rest_students=int(more.sum()),
                item_rest_interval=None
                if item_rest is None
                else correlation_interval(item_rest, int(more.sum()), level=level),
                upper=upper,
                lower=lower,
            )
        )
    return tuple(statistics)


def correlation(first: Floats, second: Floats) -> float | None:
    """Return Pearson's correlation of two vectors; None under 3 values or where one is constant."""
    if len(first) < 3:  # two points always lie on a line
        return None
    first, second = first - first.mean(), second - second.mean()
    spread = float(np.sqrt((first @ first) * (second @ second)))
    # constant except for rounding: the quotient would be noise
    if np.ptp(first) < 1e-9 or np.ptp(second) < 1e-9:
        return None
    return min(1.0, max(-1.0, float(first @ second) / spread))  # rounding may pass the ends by an ulp


def _tails(relative: Floats, shares: Floats) -> tuple[float | None, float | None]:
    if len(relative) < 2 or np.ptp(relative) == 0:
        return None, None
    return _tail(-relative, shares), _tail(relative, shares)


def _tail(order: Floats, shares: Floats) -> float:
    size = _TAIL * len(order)
    _, place, many = np.unique(order, return_inverse=True, return_counts=True)
    before = np.concatenate([[0], np.cumsum(many)[:-1]])
    weight = np.clip((size - before) / many, 0.0, 1.0)[place]
    return float(weight @ shares / weight.sum())


@dataclass(frozen=True, slots=True)
class OptionStatistics:
    """One option of an item.

    Parameters
    ----------
    option : str
        Empty for those who chose nothing.
    name : str
        Name of the misconception behind it; empty where there is none.
    is_key : bool
    students : int
        Those who chose it.
    share : float
        Of all who had the item. Where several options may be chosen, shares may sum to more than 1.
    by_group : tuple of int
        Those who chose it in each group, the weakest group first.
    point_biserial : float or None
        Correlation of choosing it with the score on the other items: should be above 0 for a key, below 0
        for a distractor.
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
    relative_scores: Floats,
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
        The options that each student chose; empty for a blank answer. Where students have variants, options
        are identified by what is behind them, such as the misconception.
    relative_scores : array, shape (students,)
        Scores on the other items, such as ``ScoreMatrix.relative_scores`` without this item. NaN for students
        without another item: they count, but are in no group.
    keys : collection of str
        The right options.
    options : sequence of str
        Options in the order of the table, also those that nobody chose. Others follow.
    names : mapping of str to str, optional
        Option to name of the misconception.
    groups : int
        Groups of about equal size; students with equal scores are in the same group.
    """
    if len(chosen) != len(relative_scores):
        raise ValueError(
            f"{count_noun(len(chosen), 'answer')} {agree(len(chosen), 'do')}n't fit "
            f"{count_noun(len(relative_scores), 'student')}"
        )
    labels = names or {}
    placed = ~np.isnan(relative_scores)
    group = _groups(relative_scores[placed], groups)
    unlisted = sorted({option for answer in chosen for option in answer} - set(options))
    columns = [*options, *unlisted, *([""] if any(not answer for answer in chosen) else [])]
    choices = []
    for option in columns:
        took = np.array([option in answer if option else not answer for answer in chosen], dtype=np.float64)
        choices.append(
            OptionStatistics(
                option=option,
                name=labels.get(option, ""),
                is_key=option in keys,
                students=int(took.sum()),
                share=float(took.mean()) if len(took) else 0.0,
                by_group=_counts(group[took[placed] == 1], groups),
                point_biserial=correlation(took[placed], relative_scores[placed]),
            )
        )
    return ChoiceTable(tuple(choices), _counts(group, groups), len(chosen))


def _groups(relative: Floats, groups: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return each student's group, 0 for the weakest, by the middle of the ranks that equal ones share."""
    _, place, many = np.unique(relative, return_inverse=True, return_counts=True)
    middle = np.cumsum(many) - many / 2
    return np.minimum((middle[place] * groups / max(1, len(relative))).astype(np.int64), groups - 1)


def _counts(group: np.ndarray[tuple[int], np.dtype[np.int64]], groups: int) -> tuple[int, ...]:
    return tuple(int(count) for count in np.bincount(group, minlength=groups))
