"""Whether a model fits the class as a whole, and whether items need slopes of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.analysis.distributions import chi2_tail
from engine.analysis.irt.abilities import as_fitted
from engine.analysis.irt.likelihood import posteriors
from engine.analysis.irt.model import Model, ModelFit, NoFit
from engine.analysis.irt.patterns import Patterns
from engine.analysis.scores import ScoreMatrix
from engine.plurals import agree, counted

__all__ = ["Comparison", "PatternFit", "compared", "pattern_fit"]

_MEAN_EXPECTED = 5  # students for each possible pattern, under which χ² is a poor guide
_MOST_ITEMS = 15  # 2^15 patterns; more items than that would need more students than a course has


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
class Comparison:
    """The likelihood ratio test of one slope for all items against a slope for each.

    A small probability speaks for slopes of their own.
    """

    statistic: float
    df: int
    probability: float


def pattern_fit(fit: ModelFit, matrix: ScoreMatrix) -> PatternFit | NoFit:
    """Return the χ² of all patterns of right and wrong answers, over students who were given all items."""
    binary = as_fitted(fit, matrix)
    whole = binary.given.all(axis=1)
    students, items = int(whole.sum()), len(fit.items)
    if items > _MOST_ITEMS or students < _MEAN_EXPECTED * 2**items:
        reason = (
            f"{counted(students, 'student')} {agree(students, 'are')} too few for the "
            f"2^{items} possible answers to {counted(items, 'item')}"
        )
        return NoFit(reason, students, {})
    df = 2**items - 1 - fit.parameters
    if df < 1:
        return NoFit("the model has as many parameters as there are patterns", students, {})
    every = np.array([[code >> item & 1 for item in range(items)] for code in range(2**items)], float)
    patterns = Patterns(every, None, np.ones(len(every)), np.arange(len(every)))
    expected = students * np.exp(np.concatenate([logs for _, _, logs in posteriors(patterns, fit.curves())]))
    codes = binary.right[whole] @ (1 << np.arange(items))
    observed = np.bincount(codes, minlength=len(every)).astype(np.float64)
    pearson = float(((observed - expected) ** 2 / expected).sum())
    g = float(2 * (observed * np.log(np.maximum(observed, 1) / expected)).sum())
    return PatternFit(students, pearson, g, df, chi2_tail(pearson, df), chi2_tail(g, df))


def compared(rasch: ModelFit, own_slopes: ModelFit) -> Comparison | NoFit:
    """Return the test of the Rasch model within the two-parameter model.

    No test where one of them left out an item that the other kept.

    Raises
    ------
    ValueError
        The two aren't these models, in this order.
    """
    if (rasch.model, own_slopes.model) != (Model.RASCH, Model.TWO_PARAMETERS):
        raise ValueError("a Rasch model is compared with a two-parameter model")
    same = [item.item for item in rasch.items] == [item.item for item in own_slopes.items]
    if not same or rasch.students != own_slopes.students:
        return NoFit("the two models aren't of the same items and students", own_slopes.students, {})
    statistic = max(0.0, 2 * (own_slopes.log_likelihood - rasch.log_likelihood))
    df = own_slopes.parameters - rasch.parameters
    return Comparison(statistic, df, chi2_tail(statistic, df))
