"""Both models of item response theory for one test, and how they compare."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.analysis import ScoreMatrix
from engine.analysis.irt import (
    Abilities,
    Comparison,
    ItemFit,
    Model,
    ModelFit,
    NoFit,
    PatternFit,
    abilities,
    compared,
    fit_model,
    item_fits,
    pattern_fit,
)

__all__ = ["RIGHT_FROM", "CurvePoint", "Fitted", "Irt", "fitted"]

RIGHT_FROM = 1.0
"""Share of full marks from which on an answer counts as right."""

_GROUPS = 8
_FEWEST_IN_GROUP = 20


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Students of about the same ability: their mean ability and their share of right answers."""

    theta: float
    share: float
    students: int


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """One model with its fit.

    Parameters
    ----------
    fit : ModelFit
    items : tuple of ItemFit or NoFit
        S-X² of every item.
    patterns : PatternFit or NoFit
    abilities : Abilities
        In the order of the matrix' students.
    points : mapping, as tuple of tuples
        For each item of the fit the observed shares along ability.
    """

    fit: ModelFit
    items: tuple[ItemFit, ...] | NoFit
    patterns: PatternFit | NoFit
    abilities: Abilities
    points: tuple[tuple[CurvePoint, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Irt:
    """Both models, or why there is none.

    ``preferred`` is the one whose curves are shown: the two-parameter model where the likelihood ratio
    test speaks for slopes of their own (probability at most .05) and it can be used, else Rasch's.
    """

    rasch: Fitted | NoFit
    own_slopes: Fitted | NoFit
    comparison: Comparison | NoFit | None

    @property
    def preferred(self) -> Fitted | None:
        """The model whose curves are shown."""
        usable = [
            one for one in (self.own_slopes, self.rasch) if isinstance(one, Fitted) and one.fit.converged
        ]
        if len(usable) < 2:
            return usable[0] if usable else None
        test = self.comparison
        return usable[1] if isinstance(test, Comparison) and test.probability > 0.05 else usable[0]


def fitted(matrix: ScoreMatrix, *, has_scipy: bool) -> Irt:
    """Return the Rasch and the two-parameter model of a test; right is what has full marks."""
    if not has_scipy:
        reason = NoFit("it needs scipy", len(matrix.points), {})
        return Irt(reason, reason, None)
    rasch, own = (_fit(matrix, model) for model in (Model.RASCH, Model.TWO_PARAMETERS))
    if isinstance(rasch, NoFit) or isinstance(own, NoFit):
        return Irt(rasch, own, None)
    return Irt(rasch, own, compared(rasch.fit, own.fit))


def _fit(matrix: ScoreMatrix, model: Model) -> Fitted | NoFit:
    fit = fit_model(matrix, model, partial_credit=RIGHT_FROM)
    if isinstance(fit, NoFit):
        return fit
    found = abilities(fit, matrix)
    right, _ = matrix.only([item.item for item in fit.items]).dichotomised(RIGHT_FROM)
    points = tuple(_points(found.theta, right.points[:, column]) for column in range(len(fit.items)))
    return Fitted(fit, item_fits(fit, matrix), pattern_fit(fit, matrix), found, points)


def _points(
    theta: np.ndarray[tuple[int], np.dtype[np.float64]], right: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> tuple[CurvePoint, ...]:
    """Return observed shares in groups of about equal size by ability; equal abilities stay together."""
    here = ~np.isnan(right) & ~np.isnan(theta)
    theta, right = theta[here], right[here]
    groups = max(1, min(_GROUPS, len(theta) // _FEWEST_IN_GROUP))
    _, place, many = np.unique(np.round(theta, 9), return_inverse=True, return_counts=True)
    middle = np.cumsum(many) - many / 2
    group = np.minimum((middle[place] * groups / max(1, len(theta))).astype(int), groups - 1)
    return tuple(
        CurvePoint(
            float(theta[group == at].mean()), float(right[group == at].mean()), int((group == at).sum())
        )
        for at in range(groups)
        if (group == at).any()
    )
