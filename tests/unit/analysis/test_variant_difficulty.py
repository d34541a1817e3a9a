"""Equal variants and trends: against scipy, exact enumeration, and simulated classes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from engine.analysis.statistics import (
    LogisticTrend,
    NoTrend,
    difficulty_trend,
    unequal_families,
    unequal_variants,
    wilson,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_with_many_students_it_is_the_g_test() -> None:
    counts = {"a": (30, 100), "b": (45, 90), "c": (60, 120)}
    found = unequal_variants(counts, rng())
    table = [[30, 45, 60], [70, 45, 60]]
    expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert found.statistic == pytest.approx(expected.statistic)
    assert (found.df, found.exact_draws) == (2, 0)
    assert found.probability == pytest.approx(expected.pvalue)


def exact(right: list[int], students: list[int]) -> float:
    """Probability of a G as large among all tables with the same margins, each enumerated."""
    good, total = sum(right), sum(students)

    def g(row: tuple[int, ...]) -> float:
        found = 0.0
        for some, size in zip(row, students, strict=True):
            for seen, share in ((some, good / total), (size - some, 1 - good / total)):
                found += 2 * seen * math.log(seen / (size * share)) if seen else 0.0
        return found

    own, sum_ = g(tuple(right)), 0.0
    for row in itertools.product(*(range(size + 1) for size in students)):
        if sum(row) == good and g(row) >= own - 1e-9:
            ways = math.prod(math.comb(size, some) for size, some in zip(students, row, strict=True))
            sum_ += ways / math.comb(total, good)
    return sum_


def test_with_few_students_tables_are_drawn() -> None:
    right, students = [0, 2, 4, 1], [3, 3, 4, 2]
    counts = {name: pair for name, *pair in zip("abcd", right, students, strict=True)}
    found = unequal_variants({name: (pair[0], pair[1]) for name, pair in counts.items()}, rng(), draws=40_000)
    assert found.exact_draws == 40_000
    assert found.probability == pytest.approx(exact(right, students), abs=0.01)


def test_one_student_for_each_variant_shows_nothing() -> None:
    found = unequal_variants({str(number): (number % 2, 1) for number in range(40)}, rng(), draws=99)
    assert found.probability == 1
    assert all(variant.q == 1 for variant in found.variants)


def test_a_variant_that_stands_out_is_told_with_its_side() -> None:
    counts = {"a": (40, 60), "hard": (10, 60), "b": (38, 60), "c": (41, 60), "none": (0, 0)}
    found = unequal_variants(counts, rng())
    assert [variant.variant for variant in found.variants] == ["a", "hard", "b", "c"]
    assert found.probability is not None and found.probability < 1e-6
    hard = found.variants[1]
    assert hard.difference == pytest.approx(10 / 60 - 119 / 180)
    assert hard.q < 1e-6 and min(v.q for v in found.variants if v is not hard) > 1e-4
    assert hard.interval == wilson(10, 60, together=4)


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_two_variants_are_fishers_exact_test(first: int, second: int, data: st.DataObject) -> None:
    right = data.draw(st.tuples(st.integers(0, first), st.integers(0, second)))
    found = unequal_variants({"a": (right[0], first), "b": (right[1], second)}, rng(), draws=9)
    table = [[right[0], right[1]], [first - right[0], second - right[1]]]
    expected = stats.fisher_exact(table).pvalue
    assert [variant.q for variant in found.variants] == pytest.approx([expected] * 2)


@pytest.mark.parametrize(
    "counts", [{}, {"a": (1, 2)}, {"a": (0, 5), "b": (0, 3)}, {"a": (5, 5), "b": (3, 3)}, {"a": (0, 0)}]
)
def test_where_nothing_can_be_seen_there_is_no_probability(counts: dict[str, tuple[int, int]]) -> None:
    found = unequal_variants(counts, rng())
    assert found.probability is None and found.statistic == pytest.approx(0, abs=1e-9)


def test_impossible_counts_are_refused() -> None:
    for pair in ((3, 2), (-1, 2)):
        with pytest.raises(ValueError, match="v:"):
            unequal_variants({"v": pair}, rng())


def test_among_equal_families_hardly_any_is_called_unequal() -> None:
    """200 families of 6 equally hard variants with 8 students each: small counts, drawn tables."""
    source = np.random.default_rng(4)
    families = {
        f"f{number}": {str(variant): (int(source.binomial(8, 0.6)), 8) for variant in range(6)}
        for number in range(200)
    }
    found = unequal_families(families, source, draws=499)
    small = [test.probability for test in found.values() if test.probability is not None]
    assert 0.01 <= np.mean([probability <= 0.05 for probability in small]) <= 0.09
    assert sum(test.q is not None and test.q <= 0.05 for test in found.values()) == 0


def test_families_are_adjusted_for_each_other() -> None:
    unequal, equal = {"a": (30, 60), "b": (45, 60)}, {"a": (40, 60), "b": (41, 60)}
    found = unequal_families({"u": unequal, "e": equal, "nothing": {"a": (1, 2)}}, rng())
    assert found["u"].probability is not None and found["e"].probability is not None
    assert found["u"].q == pytest.approx(2 * found["u"].probability)
    assert found["e"].q == pytest.approx(found["e"].probability)
    assert found["nothing"].q is None


# --- trends ---


def by_scipy(numbers: np.ndarray, right: np.ndarray) -> tuple[float, float, float]:
    """Slope, intercept and likelihood ratio by a general optimizer."""

    def loss(point: np.ndarray) -> float:
        odds = point[0] * numbers + point[1]
        return float((np.logaddexp(0, odds) - right * odds).sum())

    found = optimize.minimize(
        loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12}
    )
    share = right.mean()
    flat = -len(right) * (share * math.log(share) + (1 - share) * math.log(1 - share))
    return found.x[0], found.x[1], 2 * (flat - found.fun)


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_a_trend_is_the_logistic_regression(seed: int) -> None:
    source = np.random.default_rng(seed)
    numbers = source.integers(2, 9, size=60).astype(float)
    right = source.random(60) < 1 / (1 + np.exp(0.4 * numbers - 2))
    found = difficulty_trend(numbers.tolist(), right.tolist())
    assert isinstance(found, LogisticTrend)
    slope, intercept, ratio = by_scipy(numbers, right)
    assert found.slope == pytest.approx(slope, abs=1e-5)
    assert found.intercept == pytest.approx(intercept, abs=1e-4)
    assert found.probability == pytest.approx(stats.chi2.sf(ratio, 1), abs=1e-6)
    assert found.interval[0] < found.slope < found.interval[1]
    assert found.share(0.0) == pytest.approx(1 / (1 + math.exp(-found.intercept)))


def test_the_interval_ends_where_the_likelihood_ratio_says_so() -> None:
    """Two numbers: the profile can be written down, as the log odds ratio of a fourfold table."""
    numbers, right = [0.0] * 20 + [1.0] * 20, [True] * 8 + [False] * 12 + [True] * 15 + [False] * 5
    found = difficulty_trend(numbers, right)
    assert isinstance(found, LogisticTrend)
    assert found.slope == pytest.approx(math.log(15 / 5) - math.log(8 / 12))

    def value(slope: float) -> float:
        def loss(b: float) -> float:
            return 20 * np.logaddexp(0, b) - 8 * b + 20 * np.logaddexp(0, b + slope) - 15 * (b + slope)

        return -float(
            optimize.minimize_scalar(loss, bounds=(-30, 30), method="bounded", options={"xatol": 1e-9}).fun
        )

    for end in found.interval:
        assert 2 * (value(found.slope) - value(end)) == pytest.approx(stats.chi2.isf(0.05, 1), abs=1e-5)


def test_intervals_cover_the_true_slope() -> None:
    source = np.random.default_rng(9)
    inside = 0
    for _ in range(100):
        numbers = source.integers(1, 6, size=50).astype(float)
        right = source.random(50) < 1 / (1 + np.exp(1.2 - 0.5 * numbers))
        found = difficulty_trend(numbers.tolist(), right.tolist())
        assert isinstance(found, LogisticTrend)
        inside += found.interval[0] <= 0.5 <= found.interval[1]
    assert 0.9 <= inside / 100 <= 0.99


@pytest.mark.parametrize(
    ("numbers", "right", "reason"),
    [
        ([], [], "no answer is right"),
        ([1.0, 2], [True, True], "all answers are right"),
        ([1.0, 2], [False, False], "no answer is right"),
        ([3.0, 3], [True, False], "same number"),
        ([1.0, 2, 3], [False, False, True], "completely"),
        ([1.0, 2, 2, 3], [True, True, False, False], "completely"),
    ],
)
def test_why_there_is_no_trend(numbers: list[float], right: list[bool], reason: str) -> None:
    found = difficulty_trend(numbers, right)
    assert isinstance(found, NoTrend) and reason in found.reason


def test_a_scale_changes_the_slope_and_nothing_else() -> None:
    numbers, right = [1.0, 2, 2, 3, 4, 1, 5], [True, True, False, False, True, True, False]
    one, big = difficulty_trend(numbers, right), difficulty_trend([1e6 * n + 1e9 for n in numbers], right)
    assert isinstance(one, LogisticTrend) and isinstance(big, LogisticTrend)
    assert big.slope == pytest.approx(one.slope / 1e6, rel=1e-6)
    assert big.interval == pytest.approx([end / 1e6 for end in one.interval], rel=1e-6)
    assert big.probability == pytest.approx(one.probability, abs=1e-9)


def test_lists_that_dont_fit_are_refused() -> None:
    with pytest.raises(ValueError):
        difficulty_trend([1.0], [True, False])
    with pytest.raises(ValueError):
        difficulty_trend([1.0, math.inf], [True, False])


def test_a_far_number_doesnt_overflow() -> None:
    found = difficulty_trend([1.0, 2, 3, 4, 1e9], [True, False, True, False, True])
    assert isinstance(found, LogisticTrend) and math.isfinite(found.slope)
