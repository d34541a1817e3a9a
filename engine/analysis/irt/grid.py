"""The abilities over which likelihoods are summed in place of an integral."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.analysis.scores import Floats

__all__ = ["Grid", "grid_for"]

_REACH = 6.0  # 2e-9 of a standard normal distribution lies beyond


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Abilities and their weights, which sum to 1; arrays of shape (nodes,)."""

    theta: Floats
    weight: Floats


def grid_for(items: int, nodes: int | None = None) -> Grid:
    """Return equally spaced abilities with standard normal weights.

    Equal steps integrate smooth functions with an error that falls exponentially as they get finer. A step
    must be finer than what one student's answers tell, which narrows with the root of the number of items.
    """
    if nodes is None:
        nodes = 61 if items <= 60 else 2 * round(30 * (items / 60) ** 0.5) + 1
    theta = np.linspace(-_REACH, _REACH, nodes)
    weight = np.exp(-theta * theta / 2)
    return Grid(theta, weight / weight.sum())
