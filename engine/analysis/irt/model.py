"""What a fit of item response theory tells, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from engine.analysis.distributions import logistic
from engine.analysis.irt.grid import Grid
from engine.analysis.irt.likelihood import Curves
from engine.analysis.scores import Floats

__all__ = ["ItemParameters", "Model", "ModelFit", "NoFit"]


class Model(StrEnum):
    """Which parameters items have."""

    RASCH = "rasch"
    TWO_PARAMETERS = "2pl"


@dataclass(frozen=True, slots=True)
class ItemParameters:
    """One item: a right answer has the odds ``exp(slope · theta + intercept)``.

    Parameters
    ----------
    item : str
    students : int
        Who were given it.
    slope, intercept : float
        Discrimination a, and log odds of a student of mean ability.
    difficulty : float or None
        ``-intercept / slope``: the ability at which half of the answers are right. None for a slope of 0.
    slope_error, intercept_error, difficulty_error : float or None
        Standard errors; None where the data don't tell.
    """

    item: str
    students: int
    slope: float
    intercept: float
    difficulty: float | None
    slope_error: float | None
    intercept_error: float | None
    difficulty_error: float | None


@dataclass(frozen=True, slots=True)
class NoFit:
    """Why no model was fitted: one sentence, and the items that couldn't be used."""

    reason: str
    students: int
    left_out: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class ModelFit:
    """Item parameters by marginal maximum likelihood; abilities are standard normal in the class.

    Parameters
    ----------
    model : Model
    items : tuple of ItemParameters
    students : int
        Who were given at least one of the items.
    log_likelihood : float
    steps : int
        Of the search.
    converged : bool
        If False, don't use the parameters.
    left_out : mapping of str to str
        Items that aren't in the model, with the reason.
    problems : tuple of str
        One sentence for each thing that a reader should know.
    partial_credit : float or None
        Share of full marks from which on an answer counted as right; None: items with partial credit are
        left out.
    grid : Grid
    """

    model: Model
    items: tuple[ItemParameters, ...]
    students: int
    log_likelihood: float
    steps: int
    converged: bool
    left_out: Mapping[str, str]
    problems: tuple[str, ...]
    partial_credit: float | None
    grid: Grid

    @property
    def parameters(self) -> int:
        """How many were estimated."""
        return len(self.items) + (1 if self.model is Model.RASCH else len(self.items))

    @property
    def aic(self) -> float:
        """Akaike's criterion: smaller is better, between models of the same data."""
        return 2 * self.parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion, with the number of students."""
        return math.log(self.students) * self.parameters - 2 * self.log_likelihood

    @property
    def slopes(self) -> Floats:
        """Slopes, shape (items,)."""
        return np.array([item.slope for item in self.items])

    @property
    def intercepts(self) -> Floats:
        """Intercepts, shape (items,)."""
        return np.array([item.intercept for item in self.items])

    def curves(self) -> Curves:
        """Return the items' curves on the grid of the fit."""
        return Curves.of(self.slopes, self.intercepts, self.grid)

    def share(self, theta: Any) -> Floats:
        """Return the probability of a right answer at abilities, shape (n,); the curves, shape (items, n)."""
        odds = self.slopes[:, None] * np.asarray(theta, dtype=np.float64) + self.intercepts[:, None]
        return logistic(odds)

    def information(self, theta: Any) -> Floats:
        """Return each item's information at abilities, shape (n,); shape (items, n), summed the test's."""
        share = self.share(theta)
        return np.asarray(self.slopes[:, None] ** 2 * share * (1 - share))
