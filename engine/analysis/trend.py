"""Whether an item gets harder along a number that its variants are drawn with."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.analysis.distributions import chi2_tail, logistic, normal_quantile
from engine.analysis.scores import Floats
from engine.plurals import agree, counted

__all__ = ["NoTrend", "Trend", "difficulty_trend"]

_STEPS = 60
_FARTHEST = 50.0  # log odds per standard deviation: beyond it, nothing bounds the slope


@dataclass(frozen=True, slots=True)
class NoTrend:
    """Why there is no trend to tell: one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Trend:
    """Logistic regression of a right answer on a number.

    Parameters
    ----------
    slope : float
        Change of the log odds of a right answer per unit of the number: above 0, larger numbers are easier.
    interval : (float, float)
        From the profile likelihood; an end is infinite where the answers don't bound it.
    intercept : float
        Log odds at the number 0.
    probability : float
        Of answers that speak as much against a slope of 0 (likelihood ratio test), if it is 0.
    students : int
    """

    slope: float
    interval: tuple[float, float]
    intercept: float
    probability: float
    students: int

    def share(self, number: float) -> float:
        """Return the expected share of right answers at a number."""
        return float(logistic(np.asarray(self.intercept + self.slope * number)))


def difficulty_trend(
    numbers: Sequence[float], right: Sequence[bool], *, level: float = 0.95
) -> Trend | NoTrend:
    """Return how the odds of a right answer change along a number, one entry for each student.

    Raises
    ------
    ValueError
        Lists of different length, or a number that isn't finite.
    """
    x, y = np.asarray(numbers, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(
            f"{counted(len(x), 'number')} {agree(len(x), 'do')}n't fit {counted(len(y), 'answer')}"
        )
    if not np.isfinite(x).all():
        raise ValueError("a number isn't finite")
    if len(x) == 0 or y.min() == y.max():
        return NoTrend("all answers are right" if len(x) and y.min() else "no answer is right")
    # counts at each number say all that the list says
    at, place = np.unique(x, return_inverse=True)
    if len(at) < 2:
        return NoTrend("all students had the same number")
    many, good = (np.bincount(place, weights=part).astype(np.float64) for part in (np.ones_like(y), y))
    middle, spread = float(x.mean()), float(x.std())
    if _separated(at, good, many):
        return NoTrend("the numbers part right from wrong answers completely, so no slope is finite")
    fit = _Profile((at - middle) / spread, good, many)
    slope = fit.best()
    top, flat = fit.value(slope), fit.value(0.0)
    drop = normal_quantile(0.5 + level / 2) ** 2 / 2
    low, high = (_edge(fit.value, slope, sign, top - drop) for sign in (-1, 1))
    return Trend(
        slope=slope / spread,
        interval=(low / spread, high / spread),
        intercept=fit.intercept(slope) - slope * middle / spread,
        probability=chi2_tail(max(0.0, 2 * (top - flat)), 1),
        students=len(x),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Profile:
    """Log-likelihood of a slope with the intercept that fits it best."""

    x: Floats
    right: Floats
    many: Floats

    def intercept(self, slope: float) -> float:
        """Return the intercept at which as many right answers are expected as there are.

        Newton's method, kept between two bounds that close in.
        """
        high = 40 + abs(slope) * float(np.abs(self.x).max())
        low, at = -high, 0.0
        for _ in range(_STEPS):
            share = self._share(at, slope)
            excess = float((self.right - self.many * share).sum())
            low, high = (at, high) if excess > 0 else (low, at)
            spread = float((self.many * share * (1 - share)).sum())
            there = at + excess / spread if spread > 0 else low
            if not low < there < high:
                there = (low + high) / 2
            if abs(there - at) <= 1e-14 * (1 + abs(at)):
                break
            at = there
        return at

    def best(self) -> float:
        """Return the slope at which the likelihood is largest: where its derivative falls through 0."""

        def derivative(slope: float) -> float:
            share = self._share(self.intercept(slope), slope)
            return float(self.x @ (self.right - self.many * share))

        return _root(derivative, -_FARTHEST, _FARTHEST)

    def value(self, slope: float) -> float:
        """Return the log-likelihood."""
        odds = self.intercept(slope) + slope * self.x
        return float(self.right @ odds - self.many @ np.logaddexp(0, odds))

    def _share(self, intercept: float, slope: float) -> Floats:
        return logistic(intercept + slope * self.x)


def _separated(at: Floats, right: Floats, many: Floats) -> bool:
    """Return whether at most one number has both right and wrong answers, with only one kind on each side."""
    some_right, some_wrong = at[right > 0], at[right < many]
    return bool(some_right.min() >= some_wrong.max() or some_right.max() <= some_wrong.min())


def _edge(value: Callable[[float], float], best: float, sign: int, least: float) -> float:
    """Return where the log-likelihood has fallen to `least`, going from the best slope to one side."""
    step = 0.25
    while value(best + sign * step) > least:
        step *= 2
        if step > _FARTHEST:
            return sign * math.inf
    return _root(lambda slope: sign * (value(slope) - least), *sorted((best, best + sign * step)))


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function is 0."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if falling(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
