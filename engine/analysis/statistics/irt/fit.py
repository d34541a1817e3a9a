"""Fits the Rasch model and the two-parameter model to a class, and estimates abilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from engine.analysis.statistics.intervals import logistic
from engine.analysis.statistics.irt.likelihood import (
    STEEPEST,
    AbilityGrid,
    ItemCurves,
    LikelihoodMaximum,
    collapsed,
    grid_for,
    maximise,
    posteriors,
)
from engine.analysis.statistics.reliability import pair_sums
from engine.analysis.statistics.score_matrix import Floats, ScoreMatrix
from engine.text.words import agree, count_noun


class IrtModel(StrEnum):
    """The models: one slope for all items, or a slope for each."""

    RASCH = "rasch"
    TWO_PARAMETERS = "2pl"


@dataclass(frozen=True, slots=True)
class ItemParameters:
    """Parameters of one item: a right answer has the odds ``exp(slope · theta + intercept)``.

    Parameters
    ----------
    item : str
    students : int
        Those who had it.
    slope, intercept : float
        Discrimination, and log odds of a student of mean ability.
    difficulty : float or None
        ``-intercept / slope``: the ability at which half of the answers are right. None for a slope of 0.
    slope_error, intercept_error, difficulty_error : float or None
        Standard errors; None where the data don't determine them.
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
    """Why no model was fitted, in one sentence, and the items that couldn't be used."""

    reason: str
    students: int
    left_out: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class ModelFit:
    """Item parameters by marginal maximum likelihood; abilities are standard normal in the class.

    Parameters
    ----------
    model : IrtModel
    items : tuple of ItemParameters
    students : int
        Those with at least one of the items.
    log_likelihood : float
    steps : int
        Of the search.
    converged : bool
        If False, don't use the parameters.
    left_out : mapping of str to str
        Items that aren't in the model, with the reason.
    problems : tuple of str
        Warnings to the reader, a sentence each.
    partial_credit : float or None
        Share of full marks from which on an answer counted as right; None: items with partial credit are
        left out.
    grid : AbilityGrid
    """

    model: IrtModel
    items: tuple[ItemParameters, ...]
    students: int
    log_likelihood: float
    steps: int
    converged: bool
    left_out: Mapping[str, str]
    problems: tuple[str, ...]
    partial_credit: float | None
    grid: AbilityGrid

    @property
    def parameters(self) -> int:
        """How many were estimated."""
        return len(self.items) + (1 if self.model is IrtModel.RASCH else len(self.items))

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

    def curves(self) -> ItemCurves:
        """Return the items' curves on the grid of the fit."""
        return ItemCurves.of(self.slopes, self.intercepts, self.grid)

    def share(self, theta: Any) -> Floats:
        """Return the probability of a right answer at abilities, shape (n,); the curves, shape (items, n)."""
        odds = self.slopes[:, None] * np.asarray(theta, dtype=np.float64) + self.intercepts[:, None]
        return logistic(odds)

    def information(self, theta: Any) -> Floats:
        """Return each item's information at abilities, shape (n,); shape (items, n), summed the test's."""
        share = self.share(theta)
        return np.asarray(self.slopes[:, None] ** 2 * share * (1 - share))


FEWEST_STUDENTS = 200  # under this, standard errors are as wide as the differences between items
FEWEST_ITEMS = 3  # two items have fewer shares than parameters

_NO_SLOPE = 1e-6  # below it a difficulty, which divides by the slope, is a rounding error


def fit_model(
    matrix: ScoreMatrix,
    model: IrtModel,
    *,
    partial_credit: float | None = None,
    fewest_students: int = FEWEST_STUDENTS,
    nodes: int | None = None,
) -> ModelFit | NoFit:
    """Return a model's item parameters by marginal maximum likelihood.

    Parameters
    ----------
    matrix : ScoreMatrix
        Items that a student didn't have are left out of the likelihood: this is right where they are missing
        by the design of the quiz, or at random.
    model : IrtModel
    partial_credit : float, optional
        Share of full marks from which on an answer counts as right; without it items with partial credit
        are left out.
    fewest_students : int
        No fit with fewer, and no item that fewer students had.
    nodes : int, optional
        Abilities over which likelihoods are summed; 61 or more by default.

    Notes
    -----
    Bock and Aitkin 1981. Abilities are standard normal, so "mean ability" is that of this class. Both signs
    of ability fit equally well; the one with which the sum of slopes is positive is taken.
    """
    students = int(matrix.presented.any(axis=1).sum())
    if students < fewest_students:
        return NoFit(
            f"only {count_noun(students, 'student')} answered, {fewest_students} are needed", students, {}
        )
    binary, left_out = _usable(*matrix.dichotomised(partial_credit), fewest_students)
    while True:
        if len(binary.items) < FEWEST_ITEMS:
            reason = f"only {count_noun(len(binary.items), 'item')} can be used, {FEWEST_ITEMS} are needed"
            return NoFit(reason, students, left_out)
        used = ScoreMatrix(binary.items, binary.points[binary.presented.any(axis=1)])
        grid = grid_for(len(binary.items), nodes)
        maximum = _search(used, model, grid)
        # one at a time: without the worst item, the next may have a finite slope
        steepest = int(np.abs(maximum.slopes).argmax())
        if abs(maximum.slopes[steepest]) <= STEEPEST or model is IrtModel.RASCH:
            break
        left_out[binary.items[steepest]] = (
            "its slope grows without end: too few students, or its answers follow from the others'"
        )
        binary = binary.only([item for column, item in enumerate(binary.items) if column != steepest])
    counts = used.presented.sum(axis=0)
    items = tuple(_item(item, int(counts[column]), column, maximum) for column, item in enumerate(used.items))
    return ModelFit(
        model=model,
        items=items,
        students=len(used.points),
        log_likelihood=maximum.log_likelihood,
        steps=maximum.steps,
        converged=maximum.converged,
        left_out=left_out,
        problems=tuple(_problems(items, maximum, model)),
        partial_credit=partial_credit,
        grid=grid,
    )


def _usable(binary: ScoreMatrix, left_out: dict[str, str], fewest: int) -> tuple[ScoreMatrix, dict[str, str]]:
    """Return the items that can be fitted, and the reason why each other one can't."""
    reasons, keep = dict(left_out), []
    for item, answers, right in zip(binary.items, binary.presented.sum(0), binary.right.sum(0), strict=True):
        if answers == 0:
            reasons[item] = "nobody was given it"
        elif answers < fewest:
            few = f"only {count_noun(answers, 'student')} {agree(answers, 'were')} given it"
            reasons[item] = f"{few}, {fewest} are needed"
        elif right in (0, answers):
            reasons[item] = "all answers are right" if right else "no answer is right"
        else:
            keep.append(item)
    return binary.only(keep), reasons


def _search(used: ScoreMatrix, model: IrtModel, grid: AbilityGrid) -> LikelihoodMaximum:
    shares = used.right.sum(axis=0) / used.presented.sum(axis=0)
    # close to the answer for slopes of 1: averaging over abilities flattens log odds by about a fifth
    intercepts = 1.2 * np.log(shares / (1 - shares))
    items = len(shares)
    if model is IrtModel.RASCH:
        slopes = np.ones(1)
        design = np.zeros((2 * items, items + 1))
        design[:items, 0] = 1
        design[items:, 1:] = np.eye(items)
    else:
        covariance = np.nan_to_num(pair_sums(used).covariance())
        with_others = covariance.sum(axis=1) - np.diag(covariance)
        # starting on the right side of 0: the search can't cross it where a slope of 0 is a saddle
        slopes = np.where(with_others < 0, -0.5, 1.0)
        design = np.eye(2 * items)
    maximum = maximise(collapsed(used), np.concatenate([slopes, intercepts]), design, grid)
    if maximum.slopes.sum() >= 0:
        return maximum
    sign = np.repeat([-1.0, 1.0], items)
    turned = None if maximum.covariance is None else maximum.covariance * np.outer(sign, sign)
    return replace(maximum, slopes=-maximum.slopes, covariance=turned)


def _item(name: str, students: int, column: int, maximum: LikelihoodMaximum) -> ItemParameters:
    """Return one item's parameters and standard errors, that of difficulty by the delta method."""
    slope, intercept = float(maximum.slopes[column]), float(maximum.intercepts[column])
    difficulty = -intercept / slope if abs(slope) > _NO_SLOPE else None
    plain = ItemParameters(name, students, slope, intercept, difficulty, None, None, None)
    if maximum.covariance is None:
        return plain
    columns = [column, column + len(maximum.slopes)]
    covariance = maximum.covariance[np.ix_(columns, columns)]
    errors = np.sqrt(np.diag(covariance))
    difficulty_error = None
    if difficulty is not None:
        by = np.array([intercept / slope**2, -1 / slope])  # derivatives of −intercept / slope
        difficulty_error = math.sqrt(max(0.0, float(by @ covariance @ by)))
    return replace(
        plain,
        slope_error=float(errors[0]),
        intercept_error=float(errors[1]),
        difficulty_error=difficulty_error,
    )


def _problems(items: Sequence[ItemParameters], maximum: LikelihoodMaximum, model: IrtModel) -> list[str]:
    problems = []
    if abs(items[0].slope) > STEEPEST:
        problems.append("the common slope grows without end: don't use the parameters")
    elif not maximum.converged:
        problems.append(
            f"the search didn't converge in {count_noun(maximum.steps, 'step')}: don't use the parameters"
        )
    elif maximum.covariance is None:
        problems.append("the answers don't determine all parameters: don't use them one by one")
    negative = [item.item for item in items if item.slope < 0]
    if negative:
        problems.append(f"better students do worse (a negative slope): {', '.join(negative)}")
    if model is IrtModel.RASCH and items[0].difficulty is None:
        problems.append("the common slope is 0: the items have nothing in common")
    return problems


@dataclass(frozen=True, slots=True, eq=False)
class AbilityEstimates:
    """Expected abilities a posteriori; arrays of shape (students,), NaN for students without any item.

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


def abilities(fit: ModelFit, matrix: ScoreMatrix) -> AbilityEstimates:
    """Return abilities of the students whom the model was fitted to, or of others who had its items."""
    binary = as_fitted(fit, matrix)
    here = np.asarray(binary.presented.any(axis=1))
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
    return AbilityEstimates(theta, error, reliability)


def as_fitted(fit: ModelFit, matrix: ScoreMatrix) -> ScoreMatrix:
    """Return right and wrong answers to the items of a fit, by the rule of the fit."""
    chosen = matrix.only([item.item for item in fit.items])
    # in the class of the fit these items have no partial credit; in another one half of the points is right
    return chosen.dichotomised(fit.partial_credit or 0.5)[0]
