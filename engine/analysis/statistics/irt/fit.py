"""Fitting the Rasch model and the two-parameter model to a class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.analysis.irt.grid import Grid, grid_for
from engine.analysis.irt.maximise import STEEPEST, Maximum, maximise
from engine.analysis.irt.model import ItemParameters, Model, ModelFit, NoFit
from engine.analysis.irt.patterns import collapsed
from engine.analysis.pairs import pair_sums
from engine.analysis.scores import ScoreMatrix
from engine.plurals import agree, counted

__all__ = ["FEWEST_ITEMS", "FEWEST_STUDENTS", "fit_model"]

FEWEST_STUDENTS = 200  # under this, standard errors are as wide as the differences between items
FEWEST_ITEMS = 3  # two items have fewer shares than parameters

_NO_SLOPE = 1e-6  # below it, a difficulty is only rounding


def fit_model(
    matrix: ScoreMatrix,
    model: Model,
    *,
    partial_credit: float | None = None,
    fewest_students: int = FEWEST_STUDENTS,
    nodes: int | None = None,
) -> ModelFit | NoFit:
    """Return a model's item parameters by marginal maximum likelihood.

    Parameters
    ----------
    matrix : ScoreMatrix
        Items that weren't given are left out of a student's likelihood: right where they're missing by the
        design of the quiz, or at random.
    model : Model
    partial_credit : float, optional
        Share of full marks from which on an answer counts as right; without it items with partial credit
        are left out.
    fewest_students : int
        No fit with fewer, and no item that fewer were given.
    nodes : int, optional
        Abilities over which likelihoods are summed; 61 or more if left out.

    Notes
    -----
    Bock and Aitkin 1981. Abilities are standard normal, so "mean ability" is that of this class. Both
    signs of ability fit as well: the one is taken with which slopes are positive in sum.
    """
    students = int(matrix.given.any(axis=1).sum())
    if students < fewest_students:
        return NoFit(
            f"only {counted(students, 'student')} answered, {fewest_students} are needed", students, {}
        )
    binary, left_out = _usable(*matrix.dichotomised(partial_credit), fewest_students)
    while True:
        if len(binary.items) < FEWEST_ITEMS:
            reason = f"only {counted(len(binary.items), 'item')} can be used, {FEWEST_ITEMS} are needed"
            return NoFit(reason, students, left_out)
        seen = ScoreMatrix(binary.items, binary.points[binary.given.any(axis=1)])
        grid = grid_for(len(binary.items), nodes)
        found = _search(seen, model, grid)
        steepest = int(np.abs(found.slopes).argmax())
        if abs(found.slopes[steepest]) <= STEEPEST or model is Model.RASCH:
            break
        left_out[binary.items[steepest]] = (
            "its slope grows without end: too few students, or its answers follow from the others'"
        )
        binary = binary.only([item for column, item in enumerate(binary.items) if column != steepest])
    counts = seen.given.sum(axis=0)
    items = tuple(_item(item, int(counts[column]), column, found) for column, item in enumerate(seen.items))
    return ModelFit(
        model=model,
        items=items,
        students=len(seen.points),
        log_likelihood=found.log_likelihood,
        steps=found.steps,
        converged=found.converged,
        left_out=left_out,
        problems=tuple(_problems(items, found, model)),
        partial_credit=partial_credit,
        grid=grid,
    )


def _usable(binary: ScoreMatrix, left_out: dict[str, str], fewest: int) -> tuple[ScoreMatrix, dict[str, str]]:
    """Return the items that tell something, and the others with the reason."""
    reasons, keep = dict(left_out), []
    for item, given, right in zip(binary.items, binary.given.sum(0), binary.right.sum(0), strict=True):
        if given == 0:
            reasons[item] = "nobody was given it"
        elif given < fewest:
            reasons[item] = (
                f"only {counted(given, 'student')} {agree(given, 'were')} given it, {fewest} are needed"
            )
        elif right in (0, given):
            reasons[item] = "all answers are right" if right else "no answer is right"
        else:
            keep.append(item)
    return binary.only(keep), reasons


def _search(seen: ScoreMatrix, model: Model, grid: Grid) -> Maximum:
    shares = seen.right.sum(axis=0) / seen.given.sum(axis=0)
    intercepts = 1.2 * np.log(shares / (1 - shares))  # of slope 1, about
    items = len(shares)
    if model is Model.RASCH:
        slopes = np.ones(1)
        design = np.zeros((2 * items, items + 1))
        design[:items, 0] = 1
        design[items:, 1:] = np.eye(items)
    else:
        covariance = np.nan_to_num(pair_sums(seen).covariance())
        with_others = covariance.sum(axis=1) - np.diag(covariance)
        slopes = np.where(with_others < 0, -0.5, 1.0)
        design = np.eye(2 * items)
    found = maximise(collapsed(seen), np.concatenate([slopes, intercepts]), design, grid)
    if found.slopes.sum() >= 0:
        return found
    sign = np.repeat([-1.0, 1.0], items)
    turned = None if found.covariance is None else found.covariance * np.outer(sign, sign)
    return replace(found, slopes=-found.slopes, covariance=turned)


def _item(name: str, students: int, column: int, found: Maximum) -> ItemParameters:
    """Return one item's parameters and standard errors, that of difficulty by the delta method."""
    slope, intercept = float(found.slopes[column]), float(found.intercepts[column])
    difficulty = -intercept / slope if abs(slope) > _NO_SLOPE else None
    plain = ItemParameters(name, students, slope, intercept, difficulty, None, None, None)
    if found.covariance is None:
        return plain
    own = [column, column + len(found.slopes)]
    covariance = found.covariance[np.ix_(own, own)]
    errors = np.sqrt(np.diag(covariance))
    difficulty_error = None
    if difficulty is not None:
        by = np.array([intercept / slope**2, -1 / slope])
        difficulty_error = math.sqrt(max(0.0, float(by @ covariance @ by)))
    return replace(
        plain,
        slope_error=float(errors[0]),
        intercept_error=float(errors[1]),
        difficulty_error=difficulty_error,
    )


def _problems(items: Sequence[ItemParameters], found: Maximum, model: Model) -> list[str]:
    problems = []
    if abs(items[0].slope) > STEEPEST:
        problems.append("the common slope grows without end: don't use the parameters")
    elif not found.converged:
        problems.append(
            f"the search didn't converge in {counted(found.steps, 'step')}: don't use the parameters"
        )
    elif found.covariance is None:
        problems.append("the answers don't determine all parameters: don't use them one by one")
    negative = [item.item for item in items if item.slope < 0]
    if negative:
        problems.append(f"better students do worse (a negative slope): {', '.join(negative)}")
    if model is Model.RASCH and items[0].difficulty is None:
        problems.append("the common slope is 0: the items have nothing in common")
    return problems
