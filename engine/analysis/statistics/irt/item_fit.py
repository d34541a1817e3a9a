"""Tests of how well a model describes the class: each item (S-X²), all patterns, and equal slopes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.analysis.statistics.intervals import chi2_tail
from engine.analysis.statistics.irt.fit import FEWEST_STUDENTS, IrtModel, ModelFit, NoFit, as_fitted
from engine.analysis.statistics.irt.likelihood import AnswerPatterns, posteriors
from engine.analysis.statistics.score_matrix import Floats, ScoreMatrix
from engine.text.words import agree, count_noun

_LEAST = 1.0  # expected right and wrong answers in a cell: Orlando and Thissen's rule


@dataclass(frozen=True, slots=True)
class ItemFit:
    """Observed and expected right answers of one item, by the number of right answers in the whole test.

    Parameters
    ----------
    item : str
    students : int
        Those with all items.
    scores : tuple of (int, int)
        First and last score of each cell; neighbours are joined until a right and a wrong answer are
        expected.
    sizes : tuple of int
        Students in each cell.
    observed, expected : tuple of float
        Share of right answers in each cell.
    statistic : float
        S-X²: the sum of ``n (observed − expected)² / (expected (1 − expected))``.
    df : int
        Cells less the item's parameters.
    probability : float or None
        Of a statistic as large if the model is right; None without degrees of freedom.
    """

    item: str
    students: int
    scores: tuple[tuple[int, int], ...]
    sizes: tuple[int, ...]
    observed: tuple[float, ...]
    expected: tuple[float, ...]
    statistic: float
    df: int
    probability: float | None


def item_fits(
    fit: ModelFit, matrix: ScoreMatrix, *, fewest_students: int = FEWEST_STUDENTS
) -> tuple[ItemFit, ...] | NoFit:
    """Return the fit of every item of a model, over the students who were given all of its items.

    References
    ----------
    Orlando and Thissen 2000; the distribution of scores by the recursion of Lord and Wingersky 1984.
    """
    binary = as_fitted(fit, matrix)
    # totals mean the same ability only over the same items
    whole = binary.presented.all(axis=1)
    students = int(whole.sum())
    if students < fewest_students:
        reason = (
            f"only {count_noun(students, 'student')} {agree(students, 'were')} given all items, "
            f"{fewest_students} are needed"
        )
        return NoFit(reason, students, {})
    right = binary.right[whole]
    totals = right.sum(axis=1)
    share, weight = fit.curves().share, fit.grid.weight
    among = np.bincount(totals, minlength=len(share) + 1).astype(np.float64)
    return tuple(
        _fit_of(
            item.item,
            np.bincount(totals, weights=right[:, column], minlength=len(share) + 1).astype(np.float64),
            among,
            _expected(share, weight, column),
            1 if fit.model is IrtModel.RASCH else 2,
        )
        for column, item in enumerate(fit.items)
    )


def _score_distribution(share: Floats) -> Floats:
    """Return the probability of each number of right answers at each ability; shape (items + 1, nodes)."""
    probability = np.zeros((len(share) + 1, share.shape[1]))
    probability[0] = 1
    for number, item_share in enumerate(share, start=1):
        probability[1 : number + 1] = (
            probability[1 : number + 1] * (1 - item_share) + probability[:number] * item_share
        )
        probability[0] *= 1 - item_share
    return probability


def _expected(share: Floats, weight: Floats, column: int) -> Floats:
    # given the total, a right answer leaves one less for the others
    others = _score_distribution(np.delete(share, column, axis=0)) * weight
    right = np.concatenate([[0.0], (others * share[column]).sum(axis=1)])
    wrong = np.concatenate([(others * (1 - share[column])).sum(axis=1), [0.0]])
    return np.asarray(right / (right + wrong))


def _fit_of(item: str, right: Floats, among: Floats, expected: Floats, parameters: int) -> ItemFit:
    cells = _cells(among, expected)
    sizes = np.array([among[first : last + 1].sum() for first, last in cells], dtype=np.float64)
    observed = np.array([right[first : last + 1].sum() for first, last in cells]) / sizes
    predicted = (
        np.array([among[first : last + 1] @ expected[first : last + 1] for first, last in cells]) / sizes
    )
    statistic = float((sizes * (observed - predicted) ** 2 / (predicted * (1 - predicted))).sum())
    df = len(cells) - parameters
    return ItemFit(
        item=item,
        students=int(among.sum()),
        scores=tuple(cells),
        sizes=tuple(int(size) for size in sizes),
        observed=tuple(float(value) for value in observed),
        expected=tuple(float(value) for value in predicted),
        statistic=statistic,
        df=max(0, df),
        probability=chi2_tail(statistic, df) if df > 0 else None,
    )


def _cells(among: Floats, expected: Floats) -> list[tuple[int, int]]:
    """Return ranges of scores with enough expected answers of both kinds; 0 and all right say nothing."""
    cells: list[tuple[int, int]] = []
    first, right, wrong = 1, 0.0, 0.0  # a total of 0, or of all items, is right or wrong everywhere
    for score in range(1, len(among) - 1):
        right += among[score] * expected[score]
        wrong += among[score] * (1 - expected[score])
        if min(right, wrong) >= _LEAST:
            cells.append((first, score))
            first, right, wrong = score + 1, 0.0, 0.0
    if not cells:
        return [(1, len(among) - 2)] if among[1:-1].any() else []
    cells[-1] = (cells[-1][0], len(among) - 2)  # the remainder joins its neighbour
    return cells


_MEAN_EXPECTED = 5  # students for each possible pattern; with fewer, χ² is a poor guide
_MOST_ITEMS = 15  # 2^15 patterns: with more items a test would need more students than a course has


@dataclass(frozen=True, slots=True)
class PatternFit:
    """Observed and expected numbers of students with each pattern of answers.

    ``pearson`` is the sum of (observed − expected)² / expected, ``g`` the likelihood ratio statistic; each
    with the probability of one as large if the model is right.
    """

    students: int
    pearson: float
    g: float
    df: int
    pearson_probability: float
    g_probability: float


@dataclass(frozen=True, slots=True)
class SlopeTest:
    """The likelihood ratio test of one slope for all items against a slope for each.

    A small probability speaks for slopes that differ.
    """

    statistic: float
    df: int
    probability: float


def pattern_fit(fit: ModelFit, matrix: ScoreMatrix) -> PatternFit | NoFit:
    """Return the χ² of all patterns of right and wrong answers, over students who were given all items."""
    binary = as_fitted(fit, matrix)
    whole = binary.presented.all(axis=1)
    students, items = int(whole.sum()), len(fit.items)
    if items > _MOST_ITEMS or students < _MEAN_EXPECTED * 2**items:
        reason = (
            f"{count_noun(students, 'student')} {agree(students, 'are')} too few for the "
            f"2^{items} possible answers to {count_noun(items, 'item')}"
        )
        return NoFit(reason, students, {})
    df = 2**items - 1 - fit.parameters
    if df < 1:
        return NoFit("the model has as many parameters as there are patterns", students, {})
    every = np.array([[code >> item & 1 for item in range(items)] for code in range(2**items)], float)
    patterns = AnswerPatterns(every, None, np.ones(len(every)), np.arange(len(every)))
    expected = students * np.exp(np.concatenate([logs for _, _, logs in posteriors(patterns, fit.curves())]))
    codes = binary.right[whole] @ (1 << np.arange(items))
    observed = np.bincount(codes, minlength=len(every)).astype(np.float64)
    pearson = float(((observed - expected) ** 2 / expected).sum())
    g = float(2 * (observed * np.log(np.maximum(observed, 1) / expected)).sum())
    return PatternFit(students, pearson, g, df, chi2_tail(pearson, df), chi2_tail(g, df))


def compared(rasch: ModelFit, own_slopes: ModelFit) -> SlopeTest | NoFit:
    """Return the test of the Rasch model within the two-parameter model.

    No test where one of them left out an item that the other kept.

    Raises
    ------
    ValueError
        The two aren't these models, in this order.
    """
    if (rasch.model, own_slopes.model) != (IrtModel.RASCH, IrtModel.TWO_PARAMETERS):
        raise ValueError("a Rasch model is compared with a two-parameter model")
    same = [item.item for item in rasch.items] == [item.item for item in own_slopes.items]
    if not same or rasch.students != own_slopes.students:
        return NoFit("the two models aren't of the same items and students", own_slopes.students, {})
    # a search that ends a rounding error below may make it negative
    statistic = max(0.0, 2 * (own_slopes.log_likelihood - rasch.log_likelihood))
    df = own_slopes.parameters - rasch.parameters
    return SlopeTest(statistic, df, chi2_tail(statistic, df))
