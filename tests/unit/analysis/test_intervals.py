"""Wilson's and Fisher's intervals, and many tests at once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from engine.analysis.statistics import benjamini_hochberg, correlation_interval, wilson


@pytest.mark.parametrize(
    ("right", "count", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_published(right: int, count: int, low: float, high: float) -> None:
    """Newcombe 1998, table I, method 3."""
    assert wilson(right, count) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 200), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_ends_are_where_the_score_test_says_so(count: int, data: st.DataObject, level: float) -> None:
    right = data.draw(st.integers(0, count))
    z = stats.norm.ppf(0.5 + level / 2)
    for end in wilson(right, count, level=level):
        assert 0 <= end <= 1
        if 0 < end < 1:
            assert abs(right / count - end) == pytest.approx(z * math.sqrt(end * (1 - end) / count), rel=1e-6)


def test_intervals_that_are_read_together_are_wider() -> None:
    one, ten = wilson(5, 10), wilson(5, 10, together=10)
    assert ten == pytest.approx(wilson(5, 10, level=0.995))
    assert ten[0] < one[0] and one[1] < ten[1]


def test_nothing_is_known_of_no_students() -> None:
    assert wilson(0, 0) == (0, 1)
    for right, count in ((2, 1), (-1, 1)):
        with pytest.raises(ValueError):
            wilson(right, count)


def test_fishers_interval_agrees_with_scipy() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=30)
    y = x + rng.normal(size=30)
    found = stats.pearsonr(x, y)
    expected = found.confidence_interval(0.9)
    assert correlation_interval(found.statistic, 30, level=0.9) == pytest.approx(
        (expected.low, expected.high)
    )
    assert correlation_interval(0.5, 3) is None
    assert correlation_interval(1.0, 30) is None


def test_benjamini_and_hochbergs_own_example() -> None:
    """Benjamini and Hochberg 1995, section 3.2: of 15 probabilities 4 are called at q = .05."""
    given_ = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262,
              0.5719, 0.6528, 0.759, 1.0]  # fmt: skip
    found = benjamini_hochberg(given_)
    assert sum(q <= 0.05 for q in found) == 4
    assert found == pytest.approx(stats.false_discovery_control(given_).tolist())
    mixed = np.random.default_rng(0).permutation(15)
    assert benjamini_hochberg([given_[i] for i in mixed]) == pytest.approx([found[i] for i in mixed])
    assert benjamini_hochberg([]) == []
