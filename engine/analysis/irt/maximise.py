"""The parameters at which the marginal likelihood is largest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.analysis.irt.grid import Grid
from engine.analysis.irt.likelihood import Curves, View, view
from engine.analysis.irt.patterns import Patterns
from engine.analysis.scores import Floats

__all__ = ["STEEPEST", "Maximum", "maximise"]

STEEPEST = 10.0  # a slope that grows beyond this has no largest likelihood that the grid could tell

_CLOSE = 1e-8  # convergence: no parameter moves by more
_NEAR = 0.1  # steps under this begin to use the observed information
_FLAT = 1e-4  # curvature, relative to EM's, under which no step gets longer
_STEPS = 300
_HALVINGS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Maximum:
    """Where the search ended.

    Parameters
    ----------
    slopes, intercepts : array, shape (items,)
    log_likelihood : float
    covariance : array, shape (2 items, 2 items), or None
        Of slopes and intercepts: the inverse of the observed information. None where it has none.
    steps : int
    converged : bool
        False also when a slope passed ``STEEPEST``.
    """

    slopes: Floats
    intercepts: Floats
    log_likelihood: float
    covariance: Floats | None
    steps: int
    converged: bool


def maximise(patterns: Patterns, start: Floats, design: Floats, grid: Grid) -> Maximum:
    """Return the maximum that is reached from a starting point.

    Parameters
    ----------
    patterns : Patterns
    start : array, shape (parameters,)
    design : array, shape (2 items, parameters)
        Slopes and intercepts are ``design @ parameters``: the identity, or one slope for all items.
    grid : Grid

    Notes
    -----
    EM whose M-step is one Newton step (the EM gradient algorithm, Lange 1995); when the steps get small,
    Newton's method on the marginal likelihood itself, which has the same gradient. A step that would lower
    the likelihood is halved.
    """
    point, here = start, _view(patterns, design @ start, grid, observed=False)
    steps, size, converged = 0, np.inf, False
    while steps < _STEPS and not converged and np.abs(_slopes(design, point)).max() <= STEEPEST:
        steps += 1
        step = _step(here, design)
        step /= max(1.0, np.abs(step).max() / 2)
        for _ in range(_HALVINGS):
            there = _view(patterns, design @ (point + step), grid, observed=np.abs(step).max() < _NEAR)
            if there.log_likelihood >= here.log_likelihood - 1e-12 * abs(here.log_likelihood):
                break
            step /= 2
        else:
            break
        point, here, size = point + step, there, float(np.abs(step).max())
        converged = size < _CLOSE
    slopes, intercepts = np.split(design @ point, 2)
    return Maximum(
        slopes,
        intercepts,
        here.log_likelihood,
        _covariance(here, design) if converged else None,
        steps,
        converged,
    )


def _slopes(design: Floats, point: Floats) -> Floats:
    return np.asarray((design @ point)[: len(design) // 2])


def _view(patterns: Patterns, parameters: Floats, grid: Grid, *, observed: bool) -> View:
    slopes, intercepts = np.split(parameters, 2)
    return view(patterns, Curves.of(slopes, intercepts, grid), observed=observed)


def _step(here: View, design: Floats) -> Floats:
    """Return the step of EM, or where the observed information is known Newton's.

    Where the likelihood isn't concave, a direction of negative curvature is taken as one of positive
    curvature, so that every step goes up.
    """
    gradient, complete = design.T @ here.gradient, design.T @ here.complete @ design
    if here.observed is None:
        return np.asarray(np.linalg.solve(complete, gradient))
    # curvatures relative to those of EM: 1 where abilities are as good as known, 0 where nothing is told
    root = np.linalg.cholesky(complete)
    half = np.linalg.solve(root, design.T @ here.observed @ design)
    curvature, directions = np.linalg.eigh(np.linalg.solve(root, half.T))
    along = directions.T @ np.linalg.solve(root, gradient) / np.maximum(np.abs(curvature), _FLAT)
    return np.asarray(np.linalg.solve(root.T, directions @ along))


def _covariance(here: View, design: Floats) -> Floats | None:
    if here.observed is None:
        return None
    information = design.T @ here.observed @ design
    if not _is_positive(information):
        return None
    return np.asarray(design @ np.linalg.solve(information, design.T))


def _is_positive(matrix: Floats) -> bool:
    """Return whether a symmetric matrix is positive definite by more than rounding."""
    scale = np.sqrt(np.abs(np.diag(matrix)))
    if not scale.min() > 0:
        return False
    return bool(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] > 1e-8)
