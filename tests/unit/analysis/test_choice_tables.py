"""Distractor tables and histograms."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from engine.analysis.statistics import OptionStatistics, ScoreMatrix, choice_table, score_histogram

NAN = float("nan")


def test_a_table_of_six_students() -> None:
    """The two weakest fall for the distractor, the two best choose the key; one leaves it blank."""
    chosen = [["m-base"], ["m-base"], ["key"], [], ["key"], ["key"]]
    table = choice_table(
        chosen,
        np.array([0.0, 1, 2, 3, 4, 5]),
        keys={"key"},
        options=["key", "m-base", "m-never"],
        names={"m-base": "base 2 instead of e"},
    )
    assert table.students == 6 and table.group_sizes == (2, 2, 2)
    standing = [0, 1, 2, 3, 4, 5]
    assert table.choices == (
        OptionStatistics(
            "key",
            "",
            True,
            3,
            0.5,
            (0, 1, 2),
            pytest.approx(statistics.correlation([0, 0, 1, 0, 1, 1], standing)),
        ),
        OptionStatistics(
            "m-base",
            "base 2 instead of e",
            False,
            2,
            1 / 3,
            (2, 0, 0),
            pytest.approx(statistics.correlation([1, 1, 0, 0, 0, 0], standing)),
        ),
        OptionStatistics("m-never", "", False, 0, 0.0, (0, 0, 0), None),
        OptionStatistics(
            "",
            "",
            False,
            1,
            1 / 6,
            (0, 1, 0),
            pytest.approx(statistics.correlation([0, 0, 0, 1, 0, 0], standing)),
        ),
    )


def test_several_answers_at_once_and_options_that_werent_listed() -> None:
    table = choice_table([{"b", "a"}, {"a"}, {"z"}], np.array([2.0, 1, 0]), keys={"a", "b"}, groups=2)
    assert [(choice.option, choice.students, choice.is_key) for choice in table.choices] == [
        ("a", 2, True),
        ("b", 1, True),
        ("z", 1, False),
    ]


def test_students_with_the_same_standing_are_in_the_same_group() -> None:
    table = choice_table([["a"]] * 7, np.array([0.0, 0, 0, 0, 0, 1, 2]), keys={"a"}, groups=3)
    assert table.group_sizes == (0, 5, 2)
    assert table.choices[0].by_group == (0, 5, 2)
    flat = choice_table([["a"]] * 7, np.zeros(7), keys={"a"}, groups=3)
    assert flat.group_sizes == (0, 7, 0)


def test_who_has_no_other_item_counts_but_is_in_no_group() -> None:
    table = choice_table([["a"], ["b"], ["a"]], np.array([1.0, 0.0, NAN]), keys={"a"}, groups=2)
    assert table.students == 3 and table.group_sizes == (1, 1)
    assert table.choices[0].students == 2 and table.choices[0].by_group == (0, 1)


def test_a_table_without_students() -> None:
    table = choice_table([], np.zeros(0), keys={"a"}, options=["a"])
    assert table.choices == (OptionStatistics("a", "", True, 0, 0.0, (0, 0, 0), None),)
    with pytest.raises(ValueError):
        choice_table([["a"]], np.zeros(2), keys=set())


# --- histograms ---


def test_whole_points_have_a_bin_each() -> None:
    found = score_histogram(ScoreMatrix(["a", "b"], [[2, 1], [2, 0], [0, 0], [0, 0], [2, 1]], [2, 1]))
    assert found.edges == (0, 0.25, 0.5, 0.75, 1)
    assert found.counts == (2, 0, 1, 2)
    assert (found.students, found.median) == (5, pytest.approx(2 / 3))
    assert found.mean == pytest.approx(8 / 15)
    assert found.deviation == pytest.approx(statistics.stdev([1, 2 / 3, 0, 0, 1]))


def test_every_total_up_to_20_has_its_own_bin() -> None:
    for full in range(1, 21):
        matrix = ScoreMatrix(["a"], [[points] for points in range(full + 1)], [full])
        assert score_histogram(matrix).counts == (1,) * (full + 1)


def test_a_score_on_an_edge_belongs_above_it() -> None:
    matrix = ScoreMatrix(["a"], [[0.1 * tenth] for tenth in range(11)], [1])
    assert score_histogram(matrix).counts == (1,) * 9 + (2,)


def test_a_share_is_of_what_was_given() -> None:
    matrix = ScoreMatrix(["a", "b"], [[1, NAN], [NAN, 1], [1, 3], [NAN, NAN]], [1, 4])
    found = score_histogram(matrix, bins=4)
    assert found.counts == (0, 1, 0, 2)
    assert found.students == 3


def test_nobody_and_one() -> None:
    nobody = score_histogram(ScoreMatrix(["a"], np.zeros((0, 1))))
    assert (nobody.students, nobody.mean, nobody.deviation, nobody.median) == (0, None, None, None)
    one = score_histogram(ScoreMatrix(["a"], [[1]]))
    assert (one.mean, one.deviation) == (1, None)
