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
from engine.analysis.irt.abilities import as_fitted
from engine.analysis.irt.likelihood import posteriors
from engine.analysis.irt.patterns import collapsed

__all__ = ["RIGHT_FROM", "CurvePoint", "Fitted", "Irt", "fitted"]

RIGHT_FROM = 1.0
"""Share of full marks from which on an answer counts as right."""

_STEP = 0.5  # between abilities at which observed shares are told
_FEWEST = 5.0  # students there


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The share of right answers around one ability, and how many students it stands on, in expectation."""

    theta: float
    share: float
    students: float


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
    points : tuple of tuples of CurvePoint
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
    binary = as_fitted(fit, matrix)
    here = ScoreMatrix(binary.items, binary.points[binary.given.any(axis=1)])
    return Fitted(
        fit, item_fits(fit, matrix), pattern_fit(fit, matrix), abilities(fit, matrix), _points(fit, here)
    )


def _points(fit: ModelFit, binary: ScoreMatrix) -> tuple[tuple[CurvePoint, ...], ...]:
    """Return what the answers say of every curve.

    Each student counts at every ability by how probable it is for them after all of their answers. If the
    model is right, the shares lie on the curve but for chance (the expected counts of Bock and Aitkin
    1981). Groups by estimated ability would make every item look steeper than it is.
    """
    patterns, theta = collapsed(binary), fit.grid.theta
    given = np.ones_like(patterns.right) if patterns.given is None else patterns.given
    students = np.zeros((len(fit.items), len(theta)))
    right = np.zeros_like(students)
    for rows, posterior, _ in posteriors(patterns, fit.curves()):
        weight = patterns.count[rows, None]
        students += (weight * given[rows]).T @ posterior
        right += (weight * patterns.right[rows]).T @ posterior
    middle = np.round(theta / _STEP) * _STEP
    return tuple(
        tuple(
            CurvePoint(float(at), float(own_right[here].sum() / own[here].sum()), float(own[here].sum()))
            for at, here in ((at, middle == at) for at in np.unique(middle))
            if own[here].sum() >= _FEWEST
        )
        for own, own_right in zip(students, right, strict=True)
    )
