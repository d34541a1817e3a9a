"""Difficulty and discrimination against plain recomputation, and what a class must not change."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.analysis.statistics import ItemStatistics, ScoreMatrix, item_statistics, pairwise

NAN = float("nan")


def answers(students: int, items: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ability, hardness = rng.normal(size=(students, 1)), rng.normal(size=items)
    return (rng.random((students, items)) < 1 / (1 + np.exp(hardness - ability))).astype(float)


def named(points: np.ndarray) -> ScoreMatrix:
    return ScoreMatrix([f"i{column}" for column in range(points.shape[1])], points)


def plain(item: ItemStatistics) -> tuple[object, ...]:
    numbers = (item.difficulty, item.item_total, item.item_rest, item.upper, item.lower)
    return (item.item, item.students, *(None if n is None else round(n, 9) for n in numbers))


@given(st.integers(0, 10**6))
def test_where_all_have_all_items_correlations_are_with_totals(seed: int) -> None:
    points = answers(12, 4, seed) * [1, 2, 3, 4]
    matrix = ScoreMatrix(list("abcd"), points, [1, 2, 3, 4])
    for column, item in enumerate(item_statistics(matrix)):
        own = points[:, column].tolist()
        for found, others in (
            (item.item_total, points.sum(axis=1).tolist()),
            (item.item_rest, (points.sum(axis=1) - points[:, column]).tolist()),
        ):
            if len(set(own)) == 1 or len(set(others)) == 1:
                assert found is None
            else:
                assert found == pytest.approx(statistics.correlation(own, others), abs=1e-9)


@given(st.integers(0, 10**6))
def test_the_order_of_students_and_items_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = answers(30, 5, seed)
    points[rng.random(points.shape) < 0.2] = NAN
    rows, columns = rng.permutation(30), rng.permutation(5)
    before = {plain(item) for item in item_statistics(named(points))}
    moved = ScoreMatrix([f"i{column}" for column in columns], points[np.ix_(rows, columns)])
    assert {plain(item) for item in item_statistics(moved)} == before


def test_the_upper_and_lower_27_percent_of_a_hundred() -> None:
    """Scores 0 to 99 by the second item: exactly the best and the weakest 27 students."""
    rank = np.arange(100)
    right = (rank >= 80) | (rank < 5)
    matrix = ScoreMatrix(["a", "b"], np.column_stack([right, rank]), [1, 99])
    item = item_statistics(matrix)[0]
    totals = rank + right
    best, worst = np.argsort(totals, kind="stable")[-27:], np.argsort(totals, kind="stable")[:27]
    assert item.upper == pytest.approx(right[best].mean())
    assert item.lower == pytest.approx(right[worst].mean())
    assert item.index == pytest.approx(20 / 27 - 5 / 27)


def test_students_who_stand_equal_at_the_edge_are_counted_in_part() -> None:
    """Ten students, 2.7 in each tail. Totals 2, 2, 1 (six of them), 0, 0: 0.7 of the six come in, evenly."""
    points = [[1, 1], [1, 1], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 0], [0, 0]]
    item = item_statistics(ScoreMatrix(["a", "b"], points))[0]
    assert item.upper == pytest.approx((2 + 0.7 / 2) / 2.7)
    assert item.lower == pytest.approx(0.7 / 2 / 2.7)


def test_an_item_against_what_each_student_had_besides() -> None:
    """Two halves of a class share item a only; the means of b and c differ and must not matter."""
    points = [[1, 1, NAN], [1, 1, NAN], [0, 1, NAN], [0, 0, NAN], [1, NAN, 1], [1, NAN, 0], [0, NAN, 0]]
    item = item_statistics(ScoreMatrix(["a", "b", "c"], points))[0]
    rest = [0.25, 0.25, 0.25, -0.75, 2 / 3, -1 / 3, -1 / 3]
    assert item.item_rest == pytest.approx(statistics.correlation([1, 1, 0, 0, 1, 1, 0], rest))
    assert (item.students, item.item_rest_students) == (7, 7)


def test_partial_credit_counts_in_the_mean_but_not_as_right() -> None:
    item = item_statistics(ScoreMatrix(["a"], [[4], [2], [0], [NAN]], [4]))[0]
    assert (item.students, item.right, item.difficulty, item.mean_share) == (3, 1, 1 / 3, 0.5)


def test_what_says_nothing_is_none_and_not_0() -> None:
    nobody, constant, single, other = item_statistics(
        ScoreMatrix(
            ["n", "c", "s", "o"], [[NAN, 1, NAN, 1], [NAN, 1, NAN, 0], [NAN, 1, NAN, 1], [NAN, NAN, 1, NAN]]
        )
    )
    assert (nobody.students, nobody.difficulty, nobody.mean_share, nobody.index) == (0, None, None, None)
    assert nobody.difficulty_interval == (0, 1)
    assert (constant.difficulty, constant.item_total, constant.item_rest) == (1, None, None)
    assert (single.students, single.item_rest_students, single.item_rest) == (1, 0, None)
    assert other.item_rest is None and other.item_total is not None
    assert item_statistics(ScoreMatrix([], np.zeros((3, 0)))) == ()
    assert item_statistics(ScoreMatrix(["a"], np.zeros((0, 1))))[0].students == 0


@given(st.integers(0, 10**6))
def test_pairs_are_over_the_students_who_have_both(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = answers(25, 4, seed)
    points[rng.random(points.shape) < 0.3] = NAN
    found = pairwise(named(points))
    for one in range(4):
        for two in range(4):
            both = ~np.isnan(points[:, one]) & ~np.isnan(points[:, two])
            first, second = points[both, one], points[both, two]
            assert found.count[one, two] == both.sum()
            if both.sum() > 1:
                expected = np.cov(first, second)[0, 1]
                assert found.covariance[one, two] == pytest.approx(expected, abs=1e-12)
            if len(set(first)) > 1 and len(set(second)) > 1:
                expected = statistics.correlation(first.tolist(), second.tolist())
                assert found.correlation[one, two] == pytest.approx(expected, abs=1e-9)
            else:
                assert np.isnan(found.correlation[one, two])
