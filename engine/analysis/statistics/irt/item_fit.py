"""Whether the curve of an item fits what students of each score did: Orlando and Thissen's S-X²."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.analysis.distributions import chi2_tail
from engine.analysis.irt.abilities import as_fitted
from engine.analysis.irt.fit import FEWEST_STUDENTS
from engine.analysis.irt.model import Model, ModelFit, NoFit
from engine.analysis.scores import Floats, ScoreMatrix
from engine.plurals import agree, counted

__all__ = ["ItemFit", "item_fits"]

_LEAST = 1.0  # expected right and wrong answers in a cell


@dataclass(frozen=True, slots=True)
class ItemFit:
    """Observed and expected right answers of one item, by the number of right answers in the whole test.

    Parameters
    ----------
    item : str
    students : int
        Who were given all items.
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
        Of a statistic as large if the model is right; None without a degree of freedom.
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
    whole = binary.given.all(axis=1)
    students = int(whole.sum())
    if students < fewest_students:
        reason = (
            f"only {counted(students, 'student')} {agree(students, 'were')} given all items, "
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
            1 if fit.model is Model.RASCH else 2,
        )
        for column, item in enumerate(fit.items)
    )


def _score_distribution(share: Floats) -> Floats:
    """Return the probability of each number of right answers at each ability.

    Parameters
    ----------
    share : array, shape (items, nodes)

    Returns
    -------
    array, shape (items + 1, nodes)
    """
    found = np.zeros((len(share) + 1, share.shape[1]))
    found[0] = 1
    for number, own in enumerate(share, start=1):
        found[1 : number + 1] = found[1 : number + 1] * (1 - own) + found[:number] * own
        found[0] *= 1 - own
    return found


def _expected(share: Floats, weight: Floats, column: int) -> Floats:
    """Return the expected share of right answers to an item by total score; shape (items + 1,)."""
    others = _score_distribution(np.delete(share, column, axis=0)) * weight
    right = np.concatenate([[0.0], (others * share[column]).sum(axis=1)])
    wrong = np.concatenate([(others * (1 - share[column])).sum(axis=1), [0.0]])
    return np.asarray(right / (right + wrong))


def _fit_of(item: str, right: Floats, among: Floats, expected: Floats, parameters: int) -> ItemFit:
    cells = _cells(among, expected)
    sizes = np.array([among[first : last + 1].sum() for first, last in cells], dtype=np.float64)
    seen = np.array([right[first : last + 1].sum() for first, last in cells]) / sizes
    wanted = np.array([among[first : last + 1] @ expected[first : last + 1] for first, last in cells]) / sizes
    statistic = float((sizes * (seen - wanted) ** 2 / (wanted * (1 - wanted))).sum())
    df = len(cells) - parameters
    return ItemFit(
        item=item,
        students=int(among.sum()),
        scores=tuple(cells),
        sizes=tuple(int(size) for size in sizes),
        observed=tuple(float(value) for value in seen),
        expected=tuple(float(value) for value in wanted),
        statistic=statistic,
        df=max(0, df),
        probability=chi2_tail(statistic, df) if df > 0 else None,
    )


def _cells(among: Floats, expected: Floats) -> list[tuple[int, int]]:
    """Return ranges of scores that expect enough right and wrong answers; 0 and all right tell nothing."""
    cells: list[tuple[int, int]] = []
    first, right, wrong = 1, 0.0, 0.0
    for score in range(1, len(among) - 1):
        right += among[score] * expected[score]
        wrong += among[score] * (1 - expected[score])
        if min(right, wrong) >= _LEAST:
            cells.append((first, score))
            first, right, wrong = score + 1, 0.0, 0.0
    if not cells:
        return [(1, len(among) - 2)] if among[1:-1].any() else []
    cells[-1] = (cells[-1][0], len(among) - 2)  # what is left over joins its neighbour
    return cells
