"""The score matrix: what it refuses, sums and dichotomises."""

from __future__ import annotations

import numpy as np
import pytest

from engine.analysis.statistics import ScoreMatrix

NAN = float("nan")


def same(found: np.ndarray, expected: list[list[float]] | list[float]) -> bool:
    return bool(np.array_equal(found, np.array(expected), equal_nan=True))


@pytest.mark.parametrize(
    ("items", "points", "full"),
    [
        (["a", "b"], [[1.0]], None),
        (["a"], [1.0], None),
        (["a", "b"], [[1, 1]], [1]),
        (["a", "a"], [[1, 1]], None),
        (["a"], [[1]], [0]),
        (["a"], [[1]], [NAN]),
        (["a"], [[1.5]], [1]),
        (["a"], [[-0.5]], [1]),
        (["a"], [[float("inf")]], [1]),
    ],
)
def test_what_is_no_matrix_is_refused(
    items: list[str], points: list[object], full: list[float] | None
) -> None:
    with pytest.raises(ValueError):
        ScoreMatrix(items, points, full)


def test_a_matrix_keeps_its_points_from_later_changes() -> None:
    points = np.array([[1.0]])
    matrix = ScoreMatrix(["a"], points)
    points[0, 0] = 0
    assert matrix.points[0, 0] == 1
    with pytest.raises(ValueError):
        matrix.points[0, 0] = 0


def test_given_shares_and_right() -> None:
    matrix = ScoreMatrix(["a", "b"], [[4, 0], [2, NAN]], [4, 2])
    assert not matrix.is_common
    assert same(matrix.shares, [[1, 0], [0.5, NAN]])
    assert matrix.right.tolist() == [[True, False], [False, False]]
    assert matrix.presented.tolist() == [[True, True], [True, False]]


def test_three_thirds_are_full_marks() -> None:
    assert ScoreMatrix(["a"], [[0.1 + 0.2]], [0.3]).right.all()
    assert ScoreMatrix(["a"], [[0.1 * 3]], [0.3 + 1e-12]).right.all()


def test_nobody_stands_lower_for_having_been_given_the_harder_item() -> None:
    matrix = ScoreMatrix(["easy", "hard"], [[1, NAN], [1, NAN], [NAN, 1], [NAN, 0], [NAN, NAN]])
    assert same(matrix.relative_scores(), [0, 0, 0.5, -0.5, NAN])


def test_equal_totals_stand_equal_in_whatever_order_they_were_earned() -> None:
    parts = [0.1, 0.2, 0.3, 0.4, 0.7]
    rng = np.random.default_rng(3)
    matrix = ScoreMatrix(list("abcde"), [rng.permutation(parts) for _ in range(50)])
    assert len(set(matrix.relative_scores().tolist())) == 1


def test_a_testlet_is_the_sum_of_its_items_where_all_were_given() -> None:
    matrix = ScoreMatrix(["a", "b", "c", "d"], [[1, 2, 0, 1], [0, NAN, 1, 1]], [1, 2, 1, 1])
    summed = matrix.testlets_summed({"b": "text", "d": "text", "elsewhere": "other"})
    assert summed.items == ("a", "text", "c")
    assert same(summed.points, [[1, 3, 0], [0, NAN, 1]])
    assert same(summed.full, [1, 3, 1])


def test_a_testlet_isnt_named_as_an_item() -> None:
    with pytest.raises(ValueError, match="'a'"):
        ScoreMatrix(["a", "b"], [[1, 1]]).testlets_summed({"b": "a"})


def test_partial_credit_is_left_out_or_counts_from_a_share_on() -> None:
    matrix = ScoreMatrix(["whole", "part"], [[2, 1], [0, 2], [NAN, 0]], [2, 2])
    plain, left_out = matrix.dichotomised()
    assert plain.items == ("whole",)
    assert same(plain.points, [[1], [0], [NAN]])
    assert left_out == {"part": "it has partial credit"}
    half, left_out = matrix.dichotomised(0.5)
    assert left_out == {}
    assert same(half.points, [[1, 1], [0, 1], [NAN, 0]])
    assert same(matrix.dichotomised(0.51)[0].points, [[1, 0], [0, 1], [NAN, 0]])
    for least in (0, -1, 1.1):
        with pytest.raises(ValueError):
            matrix.dichotomised(least)


def test_items_are_chosen_in_the_order_asked_for() -> None:
    chosen = ScoreMatrix(["a", "b", "c"], [[1, 2, 3]], [1, 2, 3]).only(["c", "a"])
    assert chosen.items == ("c", "a")
    assert same(chosen.points, [[3, 1]]) and same(chosen.full, [3, 1])
