"""Alpha, its intervals and the standard error of measurement."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from engine.analysis.statistics import ScoreMatrix, reliability
from tests.oracles import lsat

NAN = float("nan")


def parallel(students: int, items: int, rng: np.random.Generator, share: float = 0.2) -> ScoreMatrix:
    """Items that share `share` of their variance: alpha is known. Points lie between 0 and 100."""
    ability = rng.normal(size=(students, 1)) * math.sqrt(share)
    noise = rng.normal(size=(students, items)) * math.sqrt(1 - share)
    points = np.clip(50 + 5 * (ability + noise), 0, 100)
    return ScoreMatrix([f"i{column}" for column in range(items)], points, [100] * items)


def true_alpha(items: int, share: float = 0.2) -> float:
    return items * share / (1 + (items - 1) * share)


def with_gaps(matrix: ScoreMatrix, gone: np.ndarray) -> ScoreMatrix:
    return ScoreMatrix(matrix.items, np.where(gone, np.nan, matrix.points), matrix.full)


@given(st.integers(0, 10**6))
def test_alpha_and_standard_error_by_their_definitions(seed: int) -> None:
    matrix = parallel(15, 4, np.random.default_rng(seed))
    found = reliability(matrix)
    total = matrix.points.sum(axis=1).var(ddof=1)
    alpha = 4 / 3 * (1 - matrix.points.var(axis=0, ddof=1).sum() / total)
    assert found.alpha == pytest.approx(alpha, abs=1e-9)
    if alpha < 1 and found.standard_error:
        assert found.standard_error**2 == pytest.approx(total * (1 - alpha), abs=1e-9)
    for column, without in enumerate(found.if_deleted):
        kept = np.delete(matrix.points, column, axis=1)
        expected = 3 / 2 * (1 - kept.var(axis=0, ddof=1).sum() / kept.sum(axis=1).var(ddof=1))
        assert without == pytest.approx(expected, abs=1e-8)
    assert (found.length, found.students, found.fewest, found.unseen_pairs) == (4, 15, 15, 0)


def test_feldts_interval_is_of_f_with_the_degrees_of_freedom_of_the_class() -> None:
    found = reliability(ScoreMatrix(lsat.ITEMS, lsat.answers(lsat.SECTION_6)), level=0.9)
    upper, lower = stats.f.isf([0.05, 0.95], 999, 999 * 4)
    assert found.interval == pytest.approx((1 - 0.7050 * upper, 1 - 0.7050 * lower), abs=1e-4)


def test_feldts_interval_covers_the_true_alpha() -> None:
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(300):
        low, high = reliability(parallel(40, 6, rng)).interval or (2, 2)
        inside += low <= true_alpha(6) <= high
    assert 0.91 <= inside / 300 <= 0.985


def test_the_interval_with_gaps_covers_the_true_alpha() -> None:
    """Each of 80 students is given 4 of 6 items at random: alpha is that of a test of 4."""
    rng = np.random.default_rng(6)
    inside = 0
    for _ in range(150):
        gone = np.argsort(rng.random((80, 6)), axis=1) < 2
        found = reliability(with_gaps(parallel(80, 6, rng), gone))
        assert found.length == 4
        low, high = found.interval or (2, 2)
        inside += low <= true_alpha(4) <= high
    assert 0.89 <= inside / 150 <= 0.99


def test_alpha_with_gaps_isnt_biased() -> None:
    rng = np.random.default_rng(7)
    gone = np.argsort(rng.random((20_000, 8)), axis=1) < 3
    found = reliability(with_gaps(parallel(20_000, 8, rng), gone))
    assert found.alpha == pytest.approx(true_alpha(5), abs=0.01)
    assert found.standard_error == pytest.approx(5 * math.sqrt(5 * 0.8), rel=0.02)
    assert found.fewest == min(
        int((~gone[:, one] & ~gone[:, two]).sum()) for one in range(8) for two in range(one)
    )


def test_pairs_that_nobody_has_say_nothing_and_are_counted() -> None:
    points = [[1, 1, NAN], [0, 0, NAN], [1, 0, NAN], [NAN, 1, 1], [NAN, 0, 0], [NAN, 0, 1], [NAN, NAN, NAN]]
    found = reliability(ScoreMatrix(["a", "b", "c"], points))
    assert (found.students, found.length, found.fewest, found.unseen_pairs) == (6, 2, 0, 1)
    assert found.alpha is not None


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((0, 2)),
        np.zeros((5, 0)),
        np.eye(4)[:, :1],
        np.ones((5, 3)),
        np.array([[1.0, 0.0]]),
        np.array([[1.0, NAN], [0.0, NAN], [NAN, 1.0], [NAN, 0.0]]),
        np.array([[1.0, 0.0], [0.0, 1.0]] * 5),  # all totals equal
    ],
)
def test_where_alpha_isnt_defined_there_is_none(points: np.ndarray) -> None:
    found = reliability(ScoreMatrix([f"i{column}" for column in range(points.shape[1])], points))
    assert found.alpha is None and found.interval is None and found.standard_error is None


def test_pairs_that_contradict_each_other_make_no_alpha_above_1() -> None:
    """Over the two students who have both items, they agree more than the first one varies over three."""
    found = reliability(ScoreMatrix(["a", "b"], [[0, 0], [0, NAN], [1, 1]]))
    assert found.alpha is None and found.interval is None and found.fewest == 2


def test_items_that_are_the_same_are_perfectly_reliable() -> None:
    found = reliability(ScoreMatrix(["a", "b"], [[1, 1], [0, 0], [1, 1]]))
    assert found.alpha == pytest.approx(1)
    assert found.standard_error == pytest.approx(0, abs=1e-7)


def test_summing_a_testlet_takes_away_reliability_that_isnt_there() -> None:
    """Three copies of one item beside three items of their own: the copies look like agreement."""
    rng = np.random.default_rng(8)
    own = parallel(2000, 4, rng)
    copies = np.concatenate([own.points, own.points[:, :1], own.points[:, :1]], axis=1)
    matrix = ScoreMatrix(list("abcdef"), copies, [100] * 6)
    apart = reliability(matrix).alpha or 0
    together = reliability(matrix.testlets_summed({"a": "t", "e": "t", "f": "t"})).alpha or 0
    assert apart > 0.6 > together
