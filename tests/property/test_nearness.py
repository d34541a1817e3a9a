"""What floats decide about typed numbers is what exact arithmetic says."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from engine.answers.asked_precision import (
    EnteredNumbers,
    NumericSettings,
    _equals_exactly,
    _is_near_exactly,
    is_near,
    within,
)

PLACES = st.integers(0, 6)
STEPS = st.integers(-(10**7), 10**7)
# a typed number lies at a bound, a hair beside it, or anywhere
HAIRS = st.sampled_from(
    [Fraction(0), Fraction(1, 10**8), Fraction(-1, 10**8), Fraction(1, 10**18), Fraction(-1, 10**18)]
)


@st.composite
def intervals(draw):
    place = draw(PLACES)
    low = Fraction(draw(STEPS), 10**place)
    high = low + Fraction(draw(st.integers(0, 40)), 10**place)
    entry = draw(st.sampled_from([low, high, (low + high) / 2])) + draw(HAIRS)
    if draw(st.booleans()):
        entry = Fraction(draw(STEPS), 10 ** draw(PLACES))
    return entry, text(low), text(high), place


def text(number: Fraction) -> str:
    sign = "-" if number < 0 else ""
    whole, rest = divmod(abs(number), 1)
    return f"{sign}{whole}.{round(rest * 10**6):06d}"


@given(intervals())
def test_within_is_exact(case):
    entry, low, high, _ = case
    assert within(entry, float(entry), low, high) == (Fraction(low) <= entry <= Fraction(high))


@given(intervals())
def test_near_is_exact(case):
    entry, low, high, place = case
    assert is_near(entry, low, high, place) == _is_near_exactly(entry, Fraction(low), Fraction(high), place)


@given(st.lists(intervals(), min_size=1, max_size=3), st.data())
def test_a_mistakes_value_is_recognised_as_exact_arithmetic_does(cases, data):
    settings = NumericSettings(
        lower=tuple(low for _, low, _, _ in cases),
        upper=tuple(high for _, _, high, _ in cases),
        places=tuple(place for *_, place in cases),
        decimals=data.draw(st.sampled_from([None, 1, 3])),
        significant=data.draw(st.sampled_from([None, 2])),
    )
    answer = tuple(entry for entry, *_ in cases)
    reach = [Fraction(high) - Fraction(low) for _, low, high, _ in cases]
    wrong = tuple(
        float(entry + data.draw(st.sampled_from([-1, 0, 1])) * half / 2 + data.draw(HAIRS))
        for entry, half in zip(answer, reach, strict=True)
    )
    roughly = EnteredNumbers(settings, answer)._equal_roughly(wrong)
    assert roughly in (None, _equals_exactly(settings, wrong, answer))
