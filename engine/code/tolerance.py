"""How far a right result may lie from the reference's, from the dtype and the size of the problem.

A weight is ``exp`` of a score difference, so an error of one score is a *relative* error of the weight:
rounding scores of size S gives eps * S, a dot product of d terms d * eps * S more, a sum of n
exponentials n * eps.  A mixture of n values is as wrong as its weights, times the largest value.
The floor covers what else a right program may do (another order of steps, log space, a division by
the temperature); it is far below every known mistake.
"""

from __future__ import annotations

import numpy as np

EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
FLOOR = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}
# the check of the values looks for wrong results; lost precision is for the checks of sums to find
VALUES = 1e-6
# roundings per quantity that a right program may need; with 8 of them the bound for half precision would
# be wider than the numbers, so its cases are small and mild, where 2 and 1 are twice what theory needs
_STEPS = {"float64": 8.0, "float32": 8.0, "float16": 2.0, "bfloat16": 1.0}


def relative_tolerance(dtype: str, *, keys: int, score: float, terms: int = 1) -> float:
    """Return the relative tolerance of one softmax weight.

    Parameters
    ----------
    dtype : str
        Floating dtype of the computation.
    keys : int
        n, how many exponentials are summed.
    score : float
        Largest absolute score; with dot products the sum of the absolute products, scaled.
    terms : int
        d, how many products one score sums.
    """
    return FLOOR[dtype] + _STEPS[dtype] * EPS[dtype] * (keys + (1 + terms) * score + 8.0)


def widened(relative: float, dtype: str, wide: str = "float32") -> float:
    """Return the tolerance in a narrower dtype of what has this relative tolerance in a wide one."""
    roundings = max(0.0, relative - FLOOR[wide]) / (_STEPS[wide] * EPS[wide])
    return FLOOR[dtype] + _STEPS[dtype] * EPS[dtype] * roundings


def close(got: np.ndarray, due: np.ndarray, slack: float) -> bool:
    """Return whether two arrays of one shape agree within `slack` everywhere; NaN never does."""
    return got.shape == due.shape and bool(np.all(np.abs(got - due) <= slack))
