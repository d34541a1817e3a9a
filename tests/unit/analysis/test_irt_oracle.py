"""The likelihood, its derivatives and its maximum against adaptive quadrature and a general optimizer."""

from __future__ import annotations

import numpy as np
import pytest

from engine.analysis.statistics import ScoreMatrix
from engine.analysis.statistics.irt import IrtModel, ModelFit, abilities, fit_model
from engine.analysis.statistics.irt.likelihood import ItemCurves, LocalLikelihood, collapsed, grid_for, view
from tests.oracles import lsat, marginal

SLOPES, INTERCEPTS = np.array([0.4, 1.3, 2.6, -0.7]), np.array([1.5, 0.0, -1.2, 0.3])


def class_of(students: int, *, gaps: bool, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    odds = SLOPES * rng.normal(size=(students, 1)) + INTERCEPTS
    answers = (rng.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(float)
    if gaps:
        answers[rng.random(odds.shape) < 0.3] = np.nan
        answers = answers[~np.isnan(answers).all(axis=1)]
    return answers


def named(answers: np.ndarray) -> ScoreMatrix:
    return ScoreMatrix([f"i{column}" for column in range(answers.shape[1])], answers)


def seen(answers: np.ndarray, point: np.ndarray, *, observed: bool = True) -> LocalLikelihood:
    slopes, intercepts = np.split(point, 2)
    return view(collapsed(named(answers)), ItemCurves.of(slopes, intercepts, grid_for(4)), observed=observed)


@pytest.mark.parametrize("gaps", [False, True])
def test_the_log_likelihood_is_the_integral(gaps: bool) -> None:
    answers = class_of(60, gaps=gaps)
    found = seen(answers, np.concatenate([SLOPES, INTERCEPTS]), observed=False).log_likelihood
    assert found == pytest.approx(marginal.log_likelihood(answers, SLOPES, INTERCEPTS), abs=1e-8)


def test_a_steep_item_and_an_able_student_are_integrated_as_well() -> None:
    answers, slopes, intercepts = np.ones((1, 4)), np.array([5.0, 4.0, 3.0, 5.0]), np.array([-9.0, 8, 0, -12])
    found = view(collapsed(named(answers)), ItemCurves.of(slopes, intercepts, grid_for(4)), observed=False)
    expected = marginal.log_likelihood(answers, slopes, intercepts)
    assert found.log_likelihood == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("gaps", [False, True])
def test_derivatives_are_those_of_the_log_likelihood(gaps: bool) -> None:
    answers, point, step = class_of(200, gaps=gaps), np.concatenate([SLOPES, INTERCEPTS]), 1e-4
    here = seen(answers, point)
    assert here.observed is not None
    assert np.allclose(here.observed, here.observed.T, atol=1e-9)
    for number, unit in enumerate(np.eye(8)):
        up, down = seen(answers, point + step * unit), seen(answers, point - step * unit)
        slope = (up.log_likelihood - down.log_likelihood) / (2 * step)
        assert here.gradient[number] == pytest.approx(slope, abs=1e-5)
        assert here.observed[number] == pytest.approx((down.gradient - up.gradient) / (2 * step), abs=1e-4)


def test_what_is_known_of_abilities_only_adds_information() -> None:
    here = seen(class_of(200, gaps=True), np.concatenate([SLOPES, INTERCEPTS]))
    assert here.observed is not None
    assert np.linalg.eigvalsh(here.complete - here.observed).min() > -1e-9


def test_common_items_are_the_same_by_both_ways_to_the_information() -> None:
    """One student with a gap makes all others go the way of items that aren't common."""
    answers, point = class_of(300, gaps=False), np.concatenate([SLOPES, INTERCEPTS])
    gap = np.array([[1.0, np.nan, 0.0, 1.0]])
    whole, alone = seen(answers, point).observed, seen(gap, point).observed
    both = seen(np.concatenate([answers, gap]), point).observed
    assert whole is not None and alone is not None and both is not None
    assert np.allclose(both, whole + alone, atol=1e-8)


@pytest.mark.parametrize("model", list(IrtModel))
def test_the_maximum_is_the_one_of_a_general_optimizer(model: IrtModel) -> None:
    answers = lsat.answers(lsat.SECTION_7)[:, 1:4]
    fit = fit_model(named(answers), model)
    assert isinstance(fit, ModelFit)
    one_slope = model is IrtModel.RASCH
    start = np.array([1.0] * (1 if one_slope else 3) + [0.5] * 3)
    slopes, intercepts, top = marginal.best(answers, start, one_slope=one_slope)
    assert fit.log_likelihood == pytest.approx(top, abs=1e-5)
    assert fit.slopes == pytest.approx(slopes, abs=2e-3)
    assert fit.intercepts == pytest.approx(intercepts, abs=2e-3)


def test_the_maximum_with_gaps_is_the_one_of_a_general_optimizer() -> None:
    rng = np.random.default_rng(2)
    answers = lsat.answers(lsat.SECTION_7)[::4, :3]
    answers[np.arange(len(answers)), rng.integers(0, 6, len(answers)) % 3] = np.nan
    answers[:120] = lsat.answers(lsat.SECTION_7)[::4, :3][:120]
    fit = fit_model(named(answers), IrtModel.RASCH, fewest_students=100)
    assert isinstance(fit, ModelFit)
    slopes, intercepts, top = marginal.best(answers, np.array([1.0, 1, 1, 1]), one_slope=True)
    assert fit.log_likelihood == pytest.approx(top, abs=1e-5)
    assert fit.slopes == pytest.approx(slopes, abs=2e-3)
    assert fit.intercepts == pytest.approx(intercepts, abs=2e-3)


def test_abilities_are_the_means_of_the_posterior() -> None:
    answers = class_of(400, gaps=True, seed=3)
    fit = fit_model(named(answers), IrtModel.TWO_PARAMETERS, fewest_students=200)
    assert isinstance(fit, ModelFit)
    few = np.concatenate([answers[:6], np.full((1, 4), np.nan)])
    found = abilities(fit, named(few))
    for row, theta, error in zip(few[:6], found.theta, found.error, strict=False):
        whole, first, second = (marginal.moment(power, row, fit.slopes, fit.intercepts) for power in range(3))
        assert theta == pytest.approx(first / whole, abs=1e-7)
        assert error**2 == pytest.approx(second / whole - (first / whole) ** 2, abs=1e-7)
    assert np.isnan(found.theta[6]) and np.isnan(found.error[6])
    spread = np.var(found.theta[:6], ddof=1)
    assert found.reliability == pytest.approx(spread / (spread + np.mean(found.error[:6] ** 2)))
