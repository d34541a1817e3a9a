"""Pure arithmetic of printed options against an exact key."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.authoring.lint.rules.printed import recompute, rounded

EXERCISE_3 = {
    "a": (0.665, 0.244, 0.091),
    "b": (0.571, 0.286, 0.143),
    "c": (0.5, 0.333, 0.167),
    "d": (0.633, 0.267, 0.1),
}
EXERCISE_5 = {"a": (0.621, -0.182), "b": (0.524, 0.235), "c": (0.462, 0.156), "d": (0.715, -0.324)}


def test_exercise_1_has_its_key_exactly_once() -> None:
    options = {"a": (1.70, 0.30), "b": (1.30, 0.70), "c": (1.5, 0.5), "d": (2.0, 0.4)}
    found = recompute((0.3 * 1 + 0.7 * 2, 0.3 * 1), options, 2)
    assert found.matches == ("a",)
    assert found.erratum_kind is None


def test_exercise_3_has_a_misrounded_nearest_option() -> None:
    total = math.e**2 + math.e + 1
    found = recompute((math.e**2 / total, math.e / total, 1 / total), EXERCISE_3, 3)
    assert found.matches == ()
    assert found.nearest == "a"
    assert found.distances["a"] == pytest.approx(0.000969, abs=5e-7)
    assert found.distances["d"] == pytest.approx(0.0322, abs=5e-5)
    assert found.erratum_kind == "nearest_option_misrounded"
    assert "0.665241, 0.244728, 0.090031" in found.describe()


def test_exercise_5_has_no_option_near() -> None:
    found = recompute((math.tanh(0.15), math.tanh(0.95)), EXERCISE_5, 3)
    assert found.matches == ()
    assert found.nearest == "b"
    assert found.distances["b"] == pytest.approx(0.504783, abs=5e-7)
    assert found.erratum_kind == "no_correct_option"


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        (0.123, None),
        (0.124, "nearest_option_misrounded"),  # 0.0009 away: within a unit, beyond half of it
        (0.122, "no_correct_option"),  # 0.0011 away
        (0.1231, "nearest_option_misrounded"),  # near enough, but not at the printed rounding
    ],
)
def test_kinds_on_both_sides_of_one_unit(option: float, kind: str | None) -> None:
    assert recompute((0.1231,), {"a": (option,), "b": (5.0,)}, 3).erratum_kind == kind


def test_a_tie_may_be_printed_either_way() -> None:
    for option in (0.12, 0.13):
        assert recompute((0.125,), {"a": (option,)}, 2).matches == ("a",)


def test_an_option_of_another_size_is_infinitely_far() -> None:
    found = recompute((1.0, 2.0), {"a": (1.0, 2.0, 3.0), "b": (1.0,)}, 2)
    assert set(found.distances.values()) == {math.inf}
    assert found.erratum_kind == "no_correct_option"


def test_two_options_that_are_right_are_both_reported() -> None:
    assert recompute((1.0,), {"a": (1.0,), "b": (1.00,)}, 2).matches == ("a", "b")


@given(
    st.lists(st.floats(-50, 50), min_size=1, max_size=4),
    st.integers(0, 4),
)
def test_a_properly_rounded_option_always_matches(values: list[float], decimals: int) -> None:
    for rule in (ROUND_HALF_EVEN, ROUND_HALF_UP):
        option = tuple(float(x) for x in rounded(values, decimals, rule))
        found = recompute(values, {"a": option}, decimals)
        assert found.matches == ("a",)


@given(st.floats(-5, 5), st.integers(1, 4), st.integers(2, 40))
def test_an_option_more_than_a_unit_away_is_never_called_right(
    value: float, decimals: int, units: int
) -> None:
    wrong = float(Decimal(str(round(value, decimals))) + units * Decimal(1).scaleb(-decimals))
    assert recompute((value,), {"a": (wrong,)}, decimals).erratum_kind == "no_correct_option"
