"""Known parameters are found again, standard errors say how far off, and nothing hangs on order or names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.analysis.statistics import ScoreMatrix
from engine.analysis.statistics.irt import IrtModel, ModelFit, NoFit, abilities, fit_model, item_fits
from tests.oracles import lsat

pytestmark = pytest.mark.slow

SLOPES = np.array([0.6, 0.8, 1.0, 1.2, 1.5, 1.8, 0.9, 1.1])
INTERCEPTS = np.array([1.5, 0.8, 0.0, -0.6, 0.3, -1.0, -1.8, 1.0])


def simulated(
    students: int, rng: np.random.Generator, slopes: np.ndarray, intercepts: np.ndarray
) -> np.ndarray:
    odds = slopes * rng.normal(size=(students, 1)) + intercepts
    return (rng.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(float)


def fitted(answers: np.ndarray, model: IrtModel = IrtModel.TWO_PARAMETERS, **how: int) -> ModelFit:
    fit = fit_model(ScoreMatrix([f"i{column}" for column in range(answers.shape[1])], answers), model, **how)
    assert isinstance(fit, ModelFit) and fit.converged
    return fit


def test_estimates_arent_biased_and_their_errors_are_as_told() -> None:
    """60 classes of 800: means of the estimates, their spread, and how often 95 % intervals hold."""
    rng = np.random.default_rng(11)
    fits = [fitted(simulated(800, rng, SLOPES, INTERCEPTS)) for _ in range(60)]
    for found, errors, true in (
        (np.array([fit.slopes for fit in fits]), "slope_error", SLOPES),
        (np.array([fit.intercepts for fit in fits]), "intercept_error", INTERCEPTS),
    ):
        told = np.array([[getattr(item, errors) for item in fit.items] for fit in fits])
        assert np.abs((found - true).mean(axis=0) / (told.mean(axis=0) / np.sqrt(60))).max() < 3.5
        assert found.std(axis=0, ddof=1) / told.mean(axis=0) == pytest.approx(np.ones(8), abs=0.3)
        assert 0.92 <= np.mean(np.abs(found - true) <= 1.96 * told) <= 0.98


def test_errors_of_difficulty_and_of_the_common_slope_are_as_told() -> None:
    rng = np.random.default_rng(12)
    fits = [fitted(simulated(500, rng, np.full(8, 1.2), INTERCEPTS), IrtModel.RASCH) for _ in range(60)]
    difficulties = np.array([[item.difficulty for item in fit.items] for fit in fits])
    told = np.array([[item.difficulty_error for item in fit.items] for fit in fits])
    assert 0.92 <= np.mean(np.abs(difficulties + INTERCEPTS / 1.2) <= 1.96 * told) <= 0.98
    slopes = np.array([fit.items[0].slope for fit in fits])
    errors = np.array([fit.items[0].slope_error for fit in fits])
    assert slopes.mean() == pytest.approx(1.2, abs=0.04)
    assert slopes.std(ddof=1) / errors.mean() == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize("booklets", [True, False])
def test_items_that_arent_common_are_found_again(booklets: bool) -> None:
    """Three booklets of 5, 5 and 4 items that share two, or 5 of 8 items drawn for each student."""
    rng = np.random.default_rng(13)
    answers = simulated(20_000, rng, SLOPES, INTERCEPTS)
    if booklets:
        held = np.array([[1, 1, 1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 1, 1, 0]], bool)
        kept = held[rng.integers(0, 3, 20_000)]
    else:
        kept = np.argsort(rng.random(answers.shape), axis=1) < 5
    fit = fitted(np.where(kept, answers, np.nan))
    assert [item.students for item in fit.items] == kept.sum(axis=0).tolist()
    for found, errors, true in (
        (fit.slopes, [item.slope_error for item in fit.items], SLOPES),
        (fit.intercepts, [item.intercept_error for item in fit.items], INTERCEPTS),
    ):
        assert np.abs((found - true) / np.array(errors, float)).max() < 3.5
        assert found == pytest.approx(true, abs=0.25)


def test_small_classes_converge_in_few_steps() -> None:
    """200 students and 5 items: on the way the likelihood isn't concave, and the search must not creep."""
    rng = np.random.default_rng(20)
    fits = [fitted(simulated(200, rng, SLOPES[:5], INTERCEPTS[:5])) for _ in range(60)]
    assert max(fit.steps for fit in fits) <= 60
    assert sum(not fit.left_out for fit in fits) >= 57


def test_items_with_hardly_anything_in_common_are_told_or_left_out() -> None:
    rng = np.random.default_rng(21)
    outcomes = set()
    for _ in range(40):
        answers = simulated(200, rng, np.array([0.2, 0.4, 0.3, 0.5]), np.array([-1.0, 0, 0.5, 1.5]))
        fit = fit_model(ScoreMatrix(list("abcd"), answers), IrtModel.TWO_PARAMETERS)
        outcomes.add((type(fit), len(fit.left_out)))
        assert isinstance(fit, NoFit) or fit.converged or "didn't converge" in fit.problems[0]
        assert all("slope grows" in why for why in fit.left_out.values())
    assert outcomes == {(ModelFit, 0), (ModelFit, 1), (NoFit, 2)}


def test_more_nodes_change_nothing() -> None:
    answers = simulated(500, np.random.default_rng(14), SLOPES, INTERCEPTS)
    few, many = fitted(answers), fitted(answers, nodes=241)
    assert few.slopes == pytest.approx(many.slopes, abs=1e-7)
    assert few.log_likelihood == pytest.approx(many.log_likelihood, abs=1e-7)


def test_a_long_test_has_a_finer_grid() -> None:
    rng = np.random.default_rng(15)
    slopes, intercepts = np.full(150, 1.5), rng.normal(size=150)
    answers = simulated(300, rng, slopes, intercepts)
    own, many = fitted(answers, IrtModel.RASCH), fitted(answers, IrtModel.RASCH, nodes=481)
    assert own.grid.theta.size > 61
    assert own.slopes[0] == pytest.approx(many.slopes[0], abs=1e-5)


@settings(max_examples=10)
@given(st.permutations(range(5)), st.integers(0, 10**6), st.sampled_from(IrtModel))
def test_the_order_of_items_and_students_changes_nothing(
    order: list[int], seed: int, model: IrtModel
) -> None:
    answers = lsat.answers(lsat.SECTION_7)
    before = fitted(answers, model)
    after = fitted(np.random.default_rng(seed).permutation(answers[:, order]), model)
    assert after.slopes == pytest.approx(before.slopes[order], abs=1e-6)
    assert after.intercepts == pytest.approx(before.intercepts[order], abs=1e-6)
    assert after.log_likelihood == pytest.approx(before.log_likelihood, abs=1e-8)


@pytest.mark.parametrize("model", list(IrtModel))
def test_turning_right_and_wrong_turns_intercepts_and_leaves_slopes(model: IrtModel) -> None:
    answers = lsat.answers(lsat.SECTION_6)
    before, after = fitted(answers, model), fitted(1 - answers, model)
    assert after.slopes == pytest.approx(before.slopes, abs=1e-6)
    assert after.intercepts == pytest.approx(-before.intercepts, abs=1e-6)
    assert [item.slope_error for item in after.items] == pytest.approx(
        [item.slope_error for item in before.items], abs=1e-6
    )


def test_an_item_that_better_students_miss_is_told() -> None:
    slopes = np.where(np.arange(8) == 2, -1.0, SLOPES)
    fit = fitted(simulated(2000, np.random.default_rng(16), slopes, INTERCEPTS))
    assert fit.problems == ("better students do worse (a negative slope): i2",)
    assert fit.slopes[2] == pytest.approx(-1, abs=0.25)
    assert fit.items[2].difficulty == pytest.approx(fit.intercepts[2] / -fit.slopes[2])


def test_mostly_negative_items_turn_the_scale() -> None:
    """Ability is what most items ask for, even where the search starts or ends the other way round."""
    slopes = np.where(np.arange(8) < 3, -1.2, 1.2)
    answers = simulated(1500, np.random.default_rng(17), slopes, np.zeros(8))
    assert fitted(answers).slopes.sum() > 0
    assert fitted(answers[:, ::-1]).slopes == pytest.approx(fitted(answers).slopes[::-1], abs=1e-5)


def test_abilities_follow_the_true_ones_and_tell_their_error() -> None:
    rng = np.random.default_rng(18)
    theta = rng.normal(size=(3000, 1))
    slopes, intercepts = np.tile(SLOPES, 3), np.tile(INTERCEPTS, 3)
    answers = (rng.random((3000, 24)) < 1 / (1 + np.exp(-(slopes * theta + intercepts)))).astype(float)
    fit = fitted(answers)
    found = abilities(fit, ScoreMatrix([item.item for item in fit.items], answers))
    assert np.mean(np.abs(found.theta - theta[:, 0]) <= 1.96 * found.error) == pytest.approx(0.95, abs=0.015)
    told = found.reliability or 0
    assert told == pytest.approx(np.corrcoef(found.theta, theta[:, 0])[0, 1] ** 2, abs=0.02)


def test_curves_and_information() -> None:
    fit = fitted(lsat.answers(lsat.SECTION_7))
    ability = np.linspace(-3, 3, 7)
    odds = fit.slopes[:, None] * ability + fit.intercepts[:, None]
    share = 1 / (1 + np.exp(-odds))
    assert fit.share(ability) == pytest.approx(share)
    step = 1e-5
    slope = (fit.share(ability + step) - fit.share(ability - step)) / (2 * step)
    assert fit.information(ability) == pytest.approx(slope**2 / (share * (1 - share)), rel=1e-6)
    at = fit.items[0].difficulty
    assert fit.share([at])[0, 0] == pytest.approx(0.5)


def test_item_fit_calls_misfit_as_often_as_it_should_and_finds_it() -> None:
    """30 classes of a right model; then an item that all solve but those in the middle."""
    rng = np.random.default_rng(19)
    slopes, intercepts = np.tile(SLOPES, 2), np.tile(INTERCEPTS, 2)
    small = []
    for _ in range(30):
        answers = simulated(1000, rng, slopes, intercepts)
        found = item_fits(fitted(answers), ScoreMatrix([f"i{column}" for column in range(16)], answers))
        assert isinstance(found, tuple)
        small += [item.probability is not None and item.probability <= 0.05 for item in found]
    assert 0.02 <= np.mean(small) <= 0.09
    theta = rng.normal(size=2000)
    odds = slopes * theta[:, None] + intercepts
    odds[:, 4] = np.where(np.abs(theta) > 0.8, 1.5, -1.5)
    answers = (rng.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(float)
    found = item_fits(fitted(answers), ScoreMatrix([f"i{column}" for column in range(16)], answers))
    assert isinstance(found, tuple)
    assert found[4].probability is not None and found[4].probability < 1e-6
