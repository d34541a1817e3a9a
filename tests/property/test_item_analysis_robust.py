"""Whatever a class looks like, the statistics answer: with numbers in their range, or with nothing."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.analysis.statistics import ScoreMatrix, item_statistics, pairwise, reliability, score_histogram
from engine.analysis.statistics.irt import IrtModel, ModelFit, abilities, fit_model, item_fits, pattern_fit


@st.composite
def matrices(draw: st.DrawFn, most_students: int = 12) -> ScoreMatrix:
    """Small classes: constant items, students without items, items without students, partial credit."""
    students, items = draw(st.integers(0, most_students)), draw(st.integers(0, 5))
    levels = st.sampled_from(draw(st.sampled_from([(0.0, 1.0), (0.0, 0.5, 1.0), (0.1, 0.2, 0.3), (1.0,)])))
    cell = st.one_of(levels, st.just(math.nan)) if draw(st.booleans()) else levels
    full = draw(st.lists(st.sampled_from([1.0, 3.0, 0.7]), min_size=items, max_size=items))
    shares = draw(
        st.lists(st.lists(cell, min_size=items, max_size=items), min_size=students, max_size=students)
    )
    points = np.array(shares, dtype=float).reshape(students, items) * full
    return ScoreMatrix([f"i{column}" for column in range(items)], points, full)


def within(value: float | None, low: float, high: float) -> bool:
    return value is None or low - 1e-9 <= value <= high + 1e-9


@settings(max_examples=200)
@given(matrices())
def test_classical_statistics_always_answer(matrix: ScoreMatrix) -> None:
    for item in item_statistics(matrix):
        shares = (item.difficulty, item.mean_share, item.upper, item.lower, *item.difficulty_interval)
        assert all(within(share, 0, 1) for share in shares)
        assert within(item.item_total, -1, 1) and within(item.item_rest, -1, 1)
        assert item.index is None or within(item.index, -1, 1)
        assert item.difficulty is None or item.difficulty_interval[0] <= item.difficulty
    found = reliability(matrix)
    assert found.alpha is None or found.alpha <= 1 + 1e-9
    assert found.interval is None or found.interval[0] <= found.interval[1] <= 1 + 1e-9
    assert found.standard_error is None or found.standard_error >= 0
    assert len(found.if_deleted) == len(matrix.items)
    correlation = pairwise(matrix).correlation
    assert np.isnan(correlation[np.abs(np.nan_to_num(correlation)) > 1]).all()
    histogram = score_histogram(matrix)
    assert sum(histogram.counts) == histogram.students <= len(matrix.points)


@settings(max_examples=150)
@given(matrices(most_students=40), st.sampled_from(IrtModel), st.sampled_from([None, 0.5]))
def test_fits_of_any_class_answer(matrix: ScoreMatrix, model: IrtModel, partial_credit: float | None) -> None:
    fit = fit_model(matrix, model, partial_credit=partial_credit, fewest_students=1)
    if not isinstance(fit, ModelFit):
        assert fit.reason
        return
    assert np.isfinite(fit.slopes).all() and np.isfinite(fit.intercepts).all()
    assert fit.converged or fit.problems
    assert set(fit.left_out) | {item.item for item in fit.items} == set(matrix.items)
    found = abilities(fit, matrix)
    asked = matrix.only([item.item for item in fit.items]).presented.any(axis=1)
    assert np.isfinite(found.theta[asked]).all() and np.isnan(found.theta[~asked]).all()
    assert ((found.error[asked] >= 0) & (found.error[asked] <= 2)).all()
    for item in () if not isinstance(fits := item_fits(fit, matrix, fewest_students=1), tuple) else fits:
        assert within(item.probability, 0, 1) and item.statistic >= 0
    pattern_fit(fit, matrix)
