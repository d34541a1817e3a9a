"""The marginal likelihood of item parameters, with its first and second derivatives.

A right answer to item i has the probability ``P_i(theta) = 1 / (1 + exp(-(a_i theta + d_i)))``. The
parameters are one vector: all slopes a, then all intercepts d.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.analysis.statistics.intervals import logistic
from engine.analysis.statistics.score_matrix import Floats, ScoreMatrix

_REACH = 6.0  # 2e-9 of a standard normal distribution lies beyond


@dataclass(frozen=True, slots=True, eq=False)
class AbilityGrid:
    """Abilities and their weights, which sum to 1; arrays of shape (nodes,)."""

    theta: Floats
    weight: Floats


def grid_for(items: int, nodes: int | None = None) -> AbilityGrid:
    """Return equally spaced abilities with standard normal weights.

    Equal steps integrate smooth functions with an error that falls exponentially as they get finer. A step
    must be finer than what one student's answers tell, which narrows with the root of the number of items.
    """
    if nodes is None:
        nodes = 61 if items <= 60 else 2 * round(30 * (items / 60) ** 0.5) + 1
    theta = np.linspace(-_REACH, _REACH, nodes)
    weight = np.exp(-theta * theta / 2)
    return AbilityGrid(theta, weight / weight.sum())


@dataclass(frozen=True, slots=True, eq=False)
class AnswerPatterns:
    """The different patterns of answers: students with the same answers are counted, not repeated.

    Parameters
    ----------
    right : array, shape (patterns, items)
        1 for a right answer, 0 for a wrong one or none.
    presented : array, shape (patterns, items), or None
        1 where the item was given; None where all items were given to all.
    count : array, shape (patterns,)
        Students.
    place : array of int, shape (students,)
        Each student's pattern.
    """

    right: Floats
    presented: Floats | None
    count: Floats
    place: npt.NDArray[np.intp]


def collapsed(binary: ScoreMatrix) -> AnswerPatterns:
    """Return the patterns of a matrix of 0, 1 and NaN."""
    presented, right = binary.presented, binary.right
    bits = np.packbits(np.concatenate([presented, right], axis=1), axis=1)
    width = bits.shape[1]
    keys = np.ascontiguousarray(bits).view(np.dtype((np.void, width))).ravel()
    _, first, place, count = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    given_items = presented[first].astype(np.float64)
    return AnswerPatterns(
        right=right[first].astype(np.float64),
        presented=None if given_items.all() else given_items,
        count=count.astype(np.float64),
        place=place,
    )


_ROWS = 2048  # patterns at a time, so that their posteriors stay in the processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class ItemCurves:
    """Item characteristic curves on a grid; arrays of shape (items, nodes)."""

    odds: Floats
    share: Floats
    grid: AbilityGrid

    @classmethod
    def of(cls, slopes: Floats, intercepts: Floats, grid: AbilityGrid) -> ItemCurves:
        """Return the curves of parameters of shape (items,)."""
        odds = slopes[:, None] * grid.theta + intercepts[:, None]
        return cls(odds, logistic(odds), grid)


@dataclass(frozen=True, slots=True, eq=False)
class LocalLikelihood:
    """The log-likelihood around one point.

    Parameters
    ----------
    log_likelihood : float
    gradient : array, shape (2 items,)
    complete : array, shape (2 items, 2 items)
        Expected information if abilities were known: at least the observed one in every direction.
    observed : array, shape (2 items, 2 items), or None
        Observed information: minus the second derivative. None unless requested.
    """

    log_likelihood: float
    gradient: Floats
    complete: Floats
    observed: Floats | None


def posteriors(patterns: AnswerPatterns, curves: ItemCurves) -> Iterator[tuple[slice, Floats, Floats]]:
    """Yield rows of patterns, their posteriors, shape (rows, nodes), and log probabilities, (rows,)."""
    wrong = -np.logaddexp(0, curves.odds)  # log(1 − P)
    prior = np.log(curves.grid.weight)
    for start in range(0, len(patterns.count), _ROWS):
        rows = slice(start, start + _ROWS)
        joint = patterns.right[rows] @ curves.odds
        joint += (
            prior + wrong.sum(axis=0)
            if patterns.presented is None
            else prior + patterns.presented[rows] @ wrong
        )
        top = joint.max(axis=1)
        joint -= top[:, None]
        np.exp(joint, out=joint)
        whole = joint.sum(axis=1)
        joint /= whole[:, None]
        yield rows, joint, np.log(whole) + top


def view(patterns: AnswerPatterns, curves: ItemCurves, *, observed: bool) -> LocalLikelihood:
    """Return the log-likelihood, its gradient and its information.

    Notes
    -----
    The gradient is that of the expected complete log-likelihood (Fisher's identity). The observed
    information is the complete one minus the covariance, over a student's posterior, of the complete
    score (Louis 1982).
    """
    theta = curves.grid.theta
    right = np.zeros_like(curves.odds)  # expected right answers at each node; given: answers
    presented = np.zeros_like(curves.odds)
    lost = _Lost(patterns, curves) if observed else None
    log_likelihood = 0.0
    for rows, posterior, logs in posteriors(patterns, curves):
        log_likelihood += float(patterns.count[rows] @ logs)
        if lost is not None:
            lost.add_means(rows, posterior)
        posterior *= patterns.count[rows, None]
        right += patterns.right[rows].T @ posterior
        presented += (
            posterior.sum(axis=0) if patterns.presented is None else patterns.presented[rows].T @ posterior
        )
        if lost is not None and patterns.presented is not None:
            lost.add_given(rows, posterior)
    excess, spread = right - presented * curves.share, presented * curves.share * (1 - curves.share)
    complete = np.block(
        [
            [np.diag(spread @ theta**2), np.diag(spread @ theta)],
            [np.diag(spread @ theta), np.diag(spread.sum(axis=1))],
        ]
    )
    return LocalLikelihood(
        log_likelihood,
        np.concatenate([excess @ theta, excess.sum(axis=1)]),
        complete,
        None if lost is None else complete - lost.total(right, presented),
    )


class _Lost:
    """The information lost because abilities aren't known: the sum of the scores' posterior covariances.

    The score of a pattern is ``theta (x_i − P_i)`` for slopes and ``x_i − P_i`` for intercepts, over the
    items given. Covariances are means of products, summed over the grid, minus products of means, summed
    over patterns.
    """

    def __init__(self, patterns: AnswerPatterns, curves: ItemCurves) -> None:
        self._patterns, self._curves = patterns, curves
        items = len(curves.odds)
        share, theta = curves.share, curves.grid.theta
        self._columns = np.concatenate([share * theta, share, theta[None], theta[None] ** 2]).T
        self._of_means = np.zeros((2 * items, 2 * items))
        self._square = np.zeros((items, items))  # sum of x_i x_j E[theta²]
        self._of_products = np.zeros((3, items, items))  # where items weren't common; by power of theta

    def add_means(self, rows: slice, posterior: Floats) -> None:
        """Add the products of the posterior means."""
        right, items = self._patterns.right[rows], len(self._curves.odds)
        means = posterior @ self._columns  # E[theta P], E[P], E[theta], E[theta²]
        if self._patterns.presented is not None:
            means[:, :items] *= self._patterns.presented[rows]
            means[:, items : 2 * items] *= self._patterns.presented[rows]
        means[:, :items] -= right * means[:, -2:-1]
        count = self._patterns.count[rows, None]
        self._square += (right * (means[:, -1:] * count)).T @ right
        scores = means[:, : 2 * items]
        self._of_means += (scores * count).T @ scores

    def add_given(self, rows: slice, posterior: Floats) -> None:
        """Add the means of products, which depend at each node on who had both items."""
        right, presented = self._patterns.right[rows], self._patterns.presented
        assert presented is not None
        share, theta = self._curves.share, self._curves.grid.theta
        for node, ability in enumerate(theta):
            weighted = presented[rows] * posterior[:, node, None]
            both = (weighted.T @ presented[rows]) * np.outer(share[:, node], share[:, node])
            mixed = (right.T @ weighted) * share[:, node]
            self._of_products[0] += both
            self._of_products[1] += ability * (both - mixed)
            self._of_products[2] += ability**2 * (both - mixed - mixed.T)

    def total(self, right: Floats, presented: Floats) -> Floats:
        """Return the sum; `right` and `presented` are expected counts of shape (items, nodes)."""
        zeroth, first, second = self._of_products
        if self._patterns.presented is None:
            share, theta = self._curves.share, self._curves.grid.theta
            zeroth = (presented * share) @ share.T
            first = ((presented * share - right) * theta) @ share.T
            mixed = (right * theta**2) @ share.T
            second = (presented * share * theta**2) @ share.T - mixed - mixed.T
        products = np.block([[second + self._square, first], [first.T, zeroth]])
        return np.asarray(products - self._of_means)


STEEPEST = 10.0  # a steeper curve is nearly a step between two nodes: the grid can't tell how steep

_CLOSE = 1e-8  # convergence: no parameter moves by more
_NEAR = 0.1  # steps below it use the observed information, which needn't be positive far from the maximum
_FLAT = 1e-4  # least curvature relative to EM's: it bounds a step in a flat direction
_STEPS = 300  # EM's own steps shrink slowly where items say little
_HALVINGS = 12


@dataclass(frozen=True, slots=True, eq=False)
class LikelihoodMaximum:
    """The end of the search.

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


def maximise(patterns: AnswerPatterns, start: Floats, design: Floats, grid: AbilityGrid) -> LikelihoodMaximum:
    """Return the maximum reached from a starting point.

    Parameters
    ----------
    patterns : AnswerPatterns
    start : array, shape (parameters,)
    design : array, shape (2 items, parameters)
        Slopes and intercepts are ``design @ parameters``: the identity, or one slope for all items.
    grid : AbilityGrid

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
    return LikelihoodMaximum(
        slopes,
        intercepts,
        here.log_likelihood,
        _covariance(here, design) if converged else None,
        steps,
        converged,
    )


def _slopes(design: Floats, point: Floats) -> Floats:
    return np.asarray((design @ point)[: len(design) // 2])


def _view(
    patterns: AnswerPatterns, parameters: Floats, grid: AbilityGrid, *, observed: bool
) -> LocalLikelihood:
    slopes, intercepts = np.split(parameters, 2)
    return view(patterns, ItemCurves.of(slopes, intercepts, grid), observed=observed)


def _step(here: LocalLikelihood, design: Floats) -> Floats:
    """Return the step of EM, or where the observed information is known Newton's.

    Where the likelihood isn't concave, a direction of negative curvature is taken as one of positive
    curvature, so that every step goes up.
    """
    gradient, complete = design.T @ here.gradient, design.T @ here.complete @ design
    if here.observed is None:
        return np.asarray(np.linalg.solve(complete, gradient))
    # curvatures relative to EM's: 1 where abilities are as good as known, 0 where the data say nothing
    root = np.linalg.cholesky(complete)
    half = np.linalg.solve(root, design.T @ here.observed @ design)
    curvature, directions = np.linalg.eigh(np.linalg.solve(root, half.T))
    along = directions.T @ np.linalg.solve(root, gradient) / np.maximum(np.abs(curvature), _FLAT)
    return np.asarray(np.linalg.solve(root.T, directions @ along))


def _covariance(here: LocalLikelihood, design: Floats) -> Floats | None:
    if here.observed is None:
        return None
    information = design.T @ here.observed @ design
    if not _is_positive(information):
        return None
    return np.asarray(design @ np.linalg.solve(information, design.T))


def _is_positive(matrix: Floats) -> bool:
    scale = np.sqrt(np.abs(np.diag(matrix)))
    if not scale.min() > 0:
        return False
    return bool(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] > 1e-8)
