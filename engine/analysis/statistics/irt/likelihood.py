"""The marginal likelihood of item parameters, with its first and second derivatives.

A right answer to item i has the probability ``P_i(theta) = 1 / (1 + exp(-(a_i theta + d_i)))``. Parameters
stand in one vector: all slopes a, then all intercepts d.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.analysis.distributions import logistic
from engine.analysis.irt.grid import Grid
from engine.analysis.irt.patterns import Patterns
from engine.analysis.scores import Floats

__all__ = ["Curves", "View", "posteriors", "view"]

_ROWS = 2048  # patterns at a time: what is made of them stays in the processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Item characteristic curves on a grid; arrays of shape (items, nodes)."""

    odds: Floats
    share: Floats
    grid: Grid

    @classmethod
    def of(cls, slopes: Floats, intercepts: Floats, grid: Grid) -> Curves:
        """Return the curves of parameters of shape (items,)."""
        odds = slopes[:, None] * grid.theta + intercepts[:, None]
        return cls(odds, logistic(odds), grid)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The log-likelihood around one point.

    Parameters
    ----------
    log_likelihood : float
    gradient : array, shape (2 items,)
    complete : array, shape (2 items, 2 items)
        Expected information if abilities were known: at least the observed one in every direction.
    observed : array, shape (2 items, 2 items), or None
        Observed information: minus the second derivative. None where it wasn't asked for.
    """

    log_likelihood: float
    gradient: Floats
    complete: Floats
    observed: Floats | None


def posteriors(patterns: Patterns, curves: Curves) -> Iterator[tuple[slice, Floats, Floats]]:
    """Yield rows of patterns, their posteriors, shape (rows, nodes), and log probabilities, (rows,)."""
    wrong = -np.logaddexp(0, curves.odds)  # log(1 − P)
    prior = np.log(curves.grid.weight)
    for start in range(0, len(patterns.count), _ROWS):
        rows = slice(start, start + _ROWS)
        joint = patterns.right[rows] @ curves.odds
        joint += prior + wrong.sum(axis=0) if patterns.given is None else prior + patterns.given[rows] @ wrong
        top = joint.max(axis=1)
        joint -= top[:, None]
        np.exp(joint, out=joint)
        whole = joint.sum(axis=1)
        joint /= whole[:, None]
        yield rows, joint, np.log(whole) + top


def view(patterns: Patterns, curves: Curves, *, observed: bool) -> View:
    """Return the log-likelihood, its gradient and its information.

    Notes
    -----
    The gradient is that of the expected complete log-likelihood (Fisher's identity). The observed
    information is the complete one minus the covariance, over a student's posterior, of the complete
    score (Louis 1982).
    """
    theta = curves.grid.theta
    right = np.zeros_like(curves.odds)  # expected right answers at each node; given: answers
    given = np.zeros_like(curves.odds)
    lost = _Lost(patterns, curves) if observed else None
    log_likelihood = 0.0
    for rows, posterior, logs in posteriors(patterns, curves):
        log_likelihood += float(patterns.count[rows] @ logs)
        if lost is not None:
            lost.add_means(rows, posterior)
        posterior *= patterns.count[rows, None]
        right += patterns.right[rows].T @ posterior
        given += posterior.sum(axis=0) if patterns.given is None else patterns.given[rows].T @ posterior
        if lost is not None and patterns.given is not None:
            lost.add_given(rows, posterior)
    excess, spread = right - given * curves.share, given * curves.share * (1 - curves.share)
    complete = np.block(
        [
            [np.diag(spread @ theta**2), np.diag(spread @ theta)],
            [np.diag(spread @ theta), np.diag(spread.sum(axis=1))],
        ]
    )
    return View(
        log_likelihood,
        np.concatenate([excess @ theta, excess.sum(axis=1)]),
        complete,
        None if lost is None else complete - lost.total(right, given),
    )


class _Lost:
    """The information lost because abilities aren't known: the sum of the scores' posterior covariances.

    The score of a pattern is ``theta (x_i − P_i)`` for slopes and ``x_i − P_i`` for intercepts, over the
    items given. Covariances are means of products, summed over the grid, minus products of means, summed
    over patterns.
    """

    def __init__(self, patterns: Patterns, curves: Curves) -> None:
        self._patterns, self._curves = patterns, curves
        items = len(curves.odds)
        share, theta = curves.share, curves.grid.theta
        self._columns = np.concatenate([share * theta, share, theta[None], theta[None] ** 2]).T
        self._of_means = np.zeros((2 * items, 2 * items))
        self._square = np.zeros((items, items))  # sum of x_i x_j E[theta²]
        self._of_products = np.zeros((3, items, items))  # where items weren't common; by power of theta

    def add_means(self, rows: slice, posterior: Floats) -> None:
        """Add the products of the posterior means, and what they take along."""
        right, items = self._patterns.right[rows], len(self._curves.odds)
        means = posterior @ self._columns  # E[theta P], E[P], E[theta], E[theta²]
        if self._patterns.given is not None:
            means[:, :items] *= self._patterns.given[rows]
            means[:, items : 2 * items] *= self._patterns.given[rows]
        means[:, :items] -= right * means[:, -2:-1]
        count = self._patterns.count[rows, None]
        self._square += (right * (means[:, -1:] * count)).T @ right
        scores = means[:, : 2 * items]
        self._of_means += (scores * count).T @ scores

    def add_given(self, rows: slice, posterior: Floats) -> None:
        """Add means of products that need to know, at each node, who was given both items."""
        right, given = self._patterns.right[rows], self._patterns.given
        assert given is not None
        share, theta = self._curves.share, self._curves.grid.theta
        for node, ability in enumerate(theta):
            weighted = given[rows] * posterior[:, node, None]
            both = (weighted.T @ given[rows]) * np.outer(share[:, node], share[:, node])
            mixed = (right.T @ weighted) * share[:, node]
            self._of_products[0] += both
            self._of_products[1] += ability * (both - mixed)
            self._of_products[2] += ability**2 * (both - mixed - mixed.T)

    def total(self, right: Floats, given: Floats) -> Floats:
        """Return the sum; `right` and `given` are expected counts of shape (items, nodes)."""
        zero, one, two = self._of_products
        if self._patterns.given is None:
            share, theta = self._curves.share, self._curves.grid.theta
            zero = (given * share) @ share.T
            one = ((given * share - right) * theta) @ share.T
            mixed = (right * theta**2) @ share.T
            two = (given * share * theta**2) @ share.T - mixed - mixed.T
        products = np.block([[two + self._square, one], [one.T, zero]])
        return np.asarray(products - self._of_means)
