"""Quantiles and tail probabilities. Only what needs scipy asks for it, and only when it's called."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from engine.analysis.scores import Floats
from engine.errors import UsageError

__all__ = ["chi2_tail", "f_quantile", "logistic", "normal_quantile"]


def logistic(odds: Floats) -> Floats:
    """Return the probabilities of log odds, without overflow."""
    return np.asarray((1 + np.tanh(odds / 2)) / 2)


def normal_quantile(share: float) -> float:
    """Return the value below which a standard normal variable lies with this probability."""
    return NormalDist().inv_cdf(share)


def chi2_tail(value: float, df: float) -> float:
    """Return the probability that a χ² variable with `df` degrees of freedom exceeds a value."""
    return float(_special().chdtrc(df, value))


def f_quantile(share: float, df1: float, df2: float) -> float:
    """Return the value below which an F variable lies with this probability."""
    return float(_special().fdtri(df1, df2, share))


def _special() -> Any:
    try:
        import scipy.special
    except ImportError as error:
        raise UsageError(
            "item analysis needs scipy", next_step='install it: pip install "softmark[stats]"'
        ) from error
    return scipy.special
