"""Derivatives by central differences, in numpy float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def gradient(f: Callable[[np.ndarray], float], x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Return df/dx entry by entry."""
    slope = np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        above, below = x.copy(), x.copy()
        above[index] += step
        below[index] -= step
        slope[index] = (f(above) - f(below)) / (2 * step)
    return slope


def jacobian(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Return df_i/dx_j of a vector function."""
    size = f(x).shape[0]
    return np.stack([gradient(lambda z, i=i: float(f(z)[i]), x, step) for i in range(size)])
