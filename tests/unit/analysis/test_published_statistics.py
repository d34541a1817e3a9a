"""Published results for the Law School Admission Test are reproduced."""

from __future__ import annotations

import pytest

from engine.analysis.statistics import ScoreMatrix, item_statistics, pairwise, reliability
from engine.analysis.statistics.irt import (
    IrtModel,
    ModelFit,
    NoFit,
    PatternFit,
    SlopeTest,
    compared,
    fit_model,
    item_fits,
    pattern_fit,
)
from tests.oracles import lsat

SIX = ScoreMatrix(lsat.ITEMS, lsat.answers(lsat.SECTION_6))
SEVEN = ScoreMatrix(lsat.ITEMS, lsat.answers(lsat.SECTION_7))


def fitted(matrix: ScoreMatrix, model: IrtModel) -> ModelFit:
    fit = fit_model(matrix, model)
    assert isinstance(fit, ModelFit)
    assert fit.converged and fit.problems == () and fit.left_out == {}
    return fit


def test_the_tables_are_of_a_thousand_students() -> None:
    assert SIX.points.shape == SEVEN.points.shape == (1000, 5)


def test_difficulty_and_both_point_biserials() -> None:
    found = item_statistics(SIX)
    assert [item.students for item in found] == [1000] * 5
    assert tuple(round(item.difficulty or 0, 3) for item in found) == lsat.SHARE
    assert tuple(round(item.mean_share or 0, 3) for item in found) == lsat.SHARE
    assert tuple(round(item.item_total or 0, 4) for item in found) == lsat.WITH_ITEM
    assert tuple(round(item.item_rest or 0, 4) for item in found) == lsat.WITHOUT_ITEM


def test_alpha_and_alpha_without_each_item() -> None:
    found = reliability(SIX)
    assert round(found.alpha or 0, 4) == lsat.ALPHA
    assert tuple(round(value or 0, 4) for value in found.if_deleted) == lsat.ALPHA_WITHOUT


def test_the_correlation_of_two_items_is_phi() -> None:
    """Of items 1 and 2, from their fourfold table, counted by hand from the patterns."""
    counts = dict.fromkeys(("00", "01", "10", "11"), 0)
    for code, many in enumerate(lsat.SECTION_6):
        counts[f"{code:05b}"[:2]] += many
    cross = counts["11"] * counts["00"] - counts["10"] * counts["01"]
    margins = 924 * 76 * 709 * 291
    assert pairwise(SIX).correlation[0, 1] == pytest.approx(cross / margins**0.5, abs=1e-12)


def test_two_parameter_model_of_section_6() -> None:
    fit = fitted(SIX, IrtModel.TWO_PARAMETERS)
    assert fit.log_likelihood == pytest.approx(lsat.LOG_LIKELIHOOD, abs=5e-4)
    assert fit.aic == pytest.approx(lsat.AIC, abs=1e-3)
    assert fit.bic == pytest.approx(lsat.BIC, abs=1e-3)
    assert [item.difficulty for item in fit.items] == pytest.approx(lsat.DIFFICULTY, abs=0.005)
    assert [item.slope for item in fit.items] == pytest.approx(lsat.SLOPE, abs=0.005)


def test_standard_errors_of_section_6() -> None:
    fit = fitted(SIX, IrtModel.TWO_PARAMETERS)
    assert [item.slope_error for item in fit.items] == pytest.approx(lsat.SLOPE_ERROR, abs=0.002)
    assert [item.difficulty_error for item in fit.items] == pytest.approx(lsat.DIFFICULTY_ERROR, abs=0.002)


def test_rasch_model_of_section_6() -> None:
    fit = fitted(SIX, IrtModel.RASCH)
    assert [item.slope for item in fit.items] == pytest.approx([lsat.COMMON_SLOPE] * 5, abs=5e-4)
    assert [item.intercept for item in fit.items] == pytest.approx(lsat.COMMON_INTERCEPTS, abs=1e-3)
    assert fit.items[0].slope ** 2 == pytest.approx(0.57, abs=0.005)


def test_two_parameter_model_of_section_7() -> None:
    fit = fitted(SEVEN, IrtModel.TWO_PARAMETERS)
    assert [item.slope for item in fit.items] == pytest.approx(lsat.SLOPE_7, abs=0.005)
    assert [item.intercept for item in fit.items] == pytest.approx(lsat.INTERCEPT_7, abs=0.005)


def test_section_6_doesnt_need_slopes_of_its_own_and_section_7_does() -> None:
    same = compared(fitted(SIX, IrtModel.RASCH), fitted(SIX, IrtModel.TWO_PARAMETERS))
    own = compared(fitted(SEVEN, IrtModel.RASCH), fitted(SEVEN, IrtModel.TWO_PARAMETERS))
    assert isinstance(same, SlopeTest) and isinstance(own, SlopeTest)
    assert same.df == own.df == 4
    assert same.probability > 0.9
    assert own.probability < 0.05


def test_the_patterns_of_section_7() -> None:
    fit = fitted(SEVEN, IrtModel.TWO_PARAMETERS)
    found = pattern_fit(fit, SEVEN)
    assert isinstance(found, PatternFit)
    assert fit.log_likelihood == pytest.approx(lsat.LOG_LIKELIHOOD_7, abs=5e-4)
    assert (found.students, found.df) == (1000, 21)
    assert found.g == pytest.approx(lsat.G_7, abs=0.005)
    assert found.g_probability == pytest.approx(lsat.G_PROBABILITY_7, abs=5e-5)


def test_item_fit_of_section_7() -> None:
    found = item_fits(fitted(SEVEN, IrtModel.TWO_PARAMETERS), SEVEN)
    assert not isinstance(found, NoFit)
    assert [item.statistic for item in found] == pytest.approx(lsat.S_X2_7, abs=0.005)
    assert [item.df for item in found] == [2] * 5
    assert [item.sizes for item in found] == [(40, 114, 205, 321)] * 5
