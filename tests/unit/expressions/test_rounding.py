"""Rounding and intervals are decimal, not binary."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from engine.expressions.values import (
    array_text,
    decimal_of,
    decimal_text,
    interval,
    is_rounding_safe,
    place_of,
)
from engine.model import FloatArray


@pytest.mark.parametrize(
    ("value", "place", "text"),
    [
        (0.665241, 3, "0.665"),
        (0.1 + 0.2, 1, "0.3"),
        (-0.0001, 2, "0.00"),
        (-0.0, None, "0"),
        (2.675, 2, "2.68"),
        (12345.0, -2, "12300"),
        (1e-15, 3, "0.000"),
        (1.5, None, "1.5"),
        (3.0, None, "3"),
        (100.0, None, "100"),
        (0.5, 0, "0"),
        (1.5, 0, "2"),
    ],
)
def test_shown(value, place, text):
    assert decimal_text(value, place) == text


def test_shown_arrays():
    assert array_text(FloatArray((), (0.5,)), [2]) == "0.50"
    assert array_text(FloatArray((2,), (0.5, -1.0)), [1, 1]) == "[0.5, -1.0]"
    assert array_text(FloatArray((2, 2), (1.0, 2.0, 3.0, 4.0)), [None] * 4) == "[[1, 2], [3, 4]]"


def test_binary_accidents_do_not_count():
    assert decimal_of(0.1 * 3) == Decimal("0.3")
    assert decimal_of(45.8 + 1e-14) == Decimal("45.8")


@pytest.mark.parametrize(
    ("value", "place", "safe"),
    [
        (0.0005, 3, False),
        (0.00049, 3, False),
        (0.00044, 3, True),
        (0.00056, 3, True),
        (0.00051, 3, False),
        (-0.0015, 3, False),
        (0.125, 2, False),
        (1.7, 2, True),
        (2.0, 0, True),
        (12450.0, -2, False),
    ],
)
def test_rounding_safety(value, place, safe):
    assert is_rounding_safe(value, place) is safe


@pytest.mark.parametrize(
    ("value", "significant", "place"),
    [(0.0057, 3, 5), (5.7, 3, 2), (57.0, 3, 1), (5726.0, 3, -1), (0.0, 3, 2), (-0.57, 2, 2)],
)
def test_significant_figures_fix_the_place(value, significant, place):
    assert place_of(value, None, significant) == place


def test_a_stated_tolerance_is_exact():
    span = interval(45.8, Decimal("0.2"), None)
    assert (span.lower, span.upper) == (Decimal("45.6"), Decimal("46.0"))
    assert span.holds(Fraction(46))
    assert not span.holds(Fraction("46.0001"))


def test_ends_are_rounded_outwards_to_few_digits():
    span = interval(0.66524095577, Decimal("0.00055"), 3)
    assert str(span.lower) == "0.664690"
    assert str(span.upper) == "0.665791"


def test_an_exact_answer_has_no_width():
    span = interval(12.0, Decimal(0), None)
    assert span.lower == span.upper == 12
