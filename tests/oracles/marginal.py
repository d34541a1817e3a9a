"""The marginal likelihood of item response theory by adaptive quadrature, one student at a time."""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate, optimize


def _density(theta: float, answers: np.ndarray, slopes: np.ndarray, intercepts: np.ndarray) -> float:
    product = math.exp(-theta * theta / 2) / math.sqrt(2 * math.pi)
    for answer, slope, intercept in zip(answers, slopes, intercepts, strict=True):
        if not math.isnan(answer):
            right = 1 / (1 + math.exp(-(slope * theta + intercept)))
            product *= right if answer else 1 - right
    return product


def moment(power: int, answers: np.ndarray, slopes: np.ndarray, intercepts: np.ndarray) -> float:
    """Return the integral of theta^power times the likelihood of one student's answers."""
    found, _ = integrate.quad(
        lambda theta: theta**power * _density(theta, answers, slopes, intercepts), -12, 12,
        epsabs=1e-13, epsrel=1e-11, limit=200,
    )  # fmt: skip
    return float(found)


def log_likelihood(answers: np.ndarray, slopes: np.ndarray, intercepts: np.ndarray) -> float:
    """Return the log-likelihood of a class; equal rows are integrated once."""
    coded = np.where(np.isnan(answers), 2, answers)  # NaN differs from NaN
    rows, counts = np.unique(coded, axis=0, return_counts=True)
    return sum(
        int(count) * math.log(moment(0, np.where(row == 2, np.nan, row), slopes, intercepts))
        for row, count in zip(rows, counts, strict=True)
    )


def best(answers: np.ndarray, start: np.ndarray, *, one_slope: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """Return slopes, intercepts and log-likelihood at the maximum, without derivatives of ours."""
    items = answers.shape[1]

    def parts(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (np.full(items, point[0]), point[1:]) if one_slope else (point[:items], point[items:])

    found = optimize.minimize(
        lambda point: -log_likelihood(answers, *parts(point)), start, method="BFGS", options={"gtol": 1e-2}
    )
    return *parts(found.x), -float(found.fun)
