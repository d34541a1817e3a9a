"""Intervals for shares and correlations, and probabilities that stay honest when there are many.

Wilson, Fisher and Benjamini–Hochberg are a few lines each, so that a report without scipy still has its
intervals; only quantiles and tails of χ² and F, and searches for a root, ask for scipy when they are called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from statistics import NormalDist
from typing import Any

import numpy as np

from engine.analysis.statistics.score_matrix import Floats
from engine.errors import UsageError


def logistic(odds: Floats) -> Floats:
    """Return the probabilities of log odds, without overflow."""
    return np.asarray((1 + np.tanh(odds / 2)) / 2)  # tanh saturates where exp would overflow


def normal_quantile(share: float) -> float:
    """Return the value below which a standard normal variable lies with this probability."""
    return NormalDist().inv_cdf(share)


def chi2_tail(value: float, df: float) -> float:
    """Return the probability that a χ² variable with `df` degrees of freedom exceeds a value."""
    return float(_scipy("special").chdtrc(df, value))


def f_quantile(share: float, df1: float, df2: float) -> float:
    """Return the value below which an F variable lies with this probability."""
    return float(_scipy("special").fdtri(df1, df2, share))


def root_between(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function is 0; the nearer end where it isn't 0 between the two."""
    if falling(low) <= 0:
        return low
    if falling(high) >= 0:
        return high
    # as exact as doubles allow: ends of intervals are compared with those of other programs
    return float(_scipy("optimize").brentq(falling, low, high, xtol=1e-14))


def _scipy(part: str) -> Any:
    try:
        return import_module(f"scipy.{part}")
    except ImportError as error:
        raise UsageError(
            "item analysis needs scipy", next_step='install it: pip install "softmark[stats]"'
        ) from error


def wilson(right: float, count: float, *, level: float = 0.95, together: int = 1) -> tuple[float, float]:
    """Return Wilson's score interval of a share.

    Parameters
    ----------
    right, count : float
        How many of how many; nothing is known of 0, so its interval is (0, 1).
    level : float
        Confidence of the interval.
    together : int
        Number of intervals that are read beside each other. All of them hold at the same time with at least
        the probability `level` (Bonferroni).

    Raises
    ------
    ValueError
        Fewer than 0 or more than all are right.

    References
    ----------
    Wilson 1927; Newcombe 1998, method 3.
    """
    if not 0 <= right <= count:
        raise ValueError(f"{right} of {count} can't be right")
    if count == 0:
        return 0.0, 1.0
    z = normal_quantile(1 - (1 - level) / (2 * together))
    share, weight = right / count, z * z / count
    middle = (share + weight / 2) / (1 + weight)
    half = math.sqrt(share * (1 - share) * weight + weight * weight / 4) / (1 + weight)
    # at the ends the formula gives exactly 0 and 1, except for rounding errors
    return (0.0 if right == 0 else middle - half), (1.0 if right == count else middle + half)


def correlation_interval(r: float, count: int, *, level: float = 0.95) -> tuple[float, float] | None:
    """Return Fisher's interval of a correlation; None under 4 students or for a perfect one."""
    if count < 4 or abs(r) >= 1:  # the variance of Fisher's z is 1 / (n − 3)
        return None
    half = normal_quantile(0.5 + level / 2) / math.sqrt(count - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def benjamini_hochberg(probabilities: Sequence[float]) -> list[float]:
    """Return the adjusted probabilities, in the same order.

    Calling what lies at or under q "unequal" makes, in the mean, at most a share q of wrong calls among all
    calls, for tests that are independent or positively dependent.

    References
    ----------
    Benjamini and Hochberg 1995.
    """
    values = np.asarray(probabilities, dtype=np.float64)
    order = np.argsort(values)[::-1]  # from the largest down, so that adjusted values never fall
    ranks = np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum.accumulate(values[order] * len(values) / ranks)
    return [min(1.0, float(value)) for value in adjusted]
