"""How able each student is, by the answers given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.analysis.irt.likelihood import posteriors
from engine.analysis.irt.model import ModelFit
from engine.analysis.irt.patterns import collapsed
from engine.analysis.scores import Floats, ScoreMatrix

__all__ = ["Abilities", "abilities", "as_fitted"]


@dataclass(frozen=True, slots=True, eq=False)
class Abilities:
    """Expected abilities a posteriori; arrays of shape (students,), NaN for who was given none of the items.

    Parameters
    ----------
    theta : array
        Mean of the posterior, drawn towards the class's mean of 0.
    error : array
        Standard deviation of the posterior.
    reliability : float or None
        ``var(theta) / (var(theta) + mean(error²))``; None under 2 students.
    """

    theta: Floats
    error: Floats
    reliability: float | None


def abilities(fit: ModelFit, matrix: ScoreMatrix) -> Abilities:
    """Return abilities of the students whom the model was fitted to, or of others who had its items."""
    binary = as_fitted(fit, matrix)
    here = np.asarray(binary.given.any(axis=1))
    patterns = collapsed(ScoreMatrix(binary.items, binary.points[here]))
    nodes = fit.grid.theta
    mean, spread = np.empty(len(patterns.count)), np.empty(len(patterns.count))
    for rows, posterior, _ in posteriors(patterns, fit.curves()):
        mean[rows] = posterior @ nodes
        spread[rows] = np.sqrt(np.maximum(0.0, posterior @ nodes**2 - mean[rows] ** 2))
    theta, error = np.full(len(here), np.nan), np.full(len(here), np.nan)
    theta[here], error[here] = mean[patterns.place], spread[patterns.place]
    reliability = None
    if here.sum() > 1:
        variance = float(theta[here].var(ddof=1))
        reliability = variance / (variance + float((error[here] ** 2).mean()))
    return Abilities(theta, error, reliability)


def as_fitted(fit: ModelFit, matrix: ScoreMatrix) -> ScoreMatrix:
    """Return right and wrong answers to the items of a fit, by the rule of the fit."""
    chosen = matrix.only([item.item for item in fit.items])
    # the class of the fit has no partial credit at these items; of another class half of the points decide
    return chosen.dichotomised(fit.partial_credit or 0.5)[0]
