"""Where floats decide about a rounding, decimals of the 12 digits that count say the same."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

from hypothesis import example, given
from hypothesis import strategies as st

from engine.expressions.values import decimal_of, decimal_text, interval, is_on_grid, is_rounding_safe, unit

EXACT = Context(prec=400)
PLACES = st.integers(-3, 14)
HAIRS = st.sampled_from([0.0, 1e-16, 1e-13, 4e-12, 1e-9, 9e-4, 1.1e-3, 0.049, 0.05, 0.0511])


@st.composite
def numbers(draw):
    """Draw a number at a tie or a grid point, a hair beside it, or anywhere; and a place."""
    place = draw(PLACES)
    halves = draw(st.integers(-(10 ** draw(st.integers(0, 11))), 10 ** draw(st.integers(0, 11))))
    sign = draw(st.sampled_from([-1, 1]))
    value = (halves / 2 + sign * draw(HAIRS)) * 10.0**-place
    return draw(st.sampled_from([value, value * (1 + 2e-12), draw(st.floats(-1e9, 1e9))])), place


def rounded(value: float, place: int, rule: str) -> Decimal:
    return decimal_of(value).quantize(unit(place), rounding=rule, context=EXACT)


@given(numbers())
@example((9e-13, 14))
@example((-0.4, 0))
def test_shown_digits(case):
    value, place = case
    number = rounded(value, place, ROUND_HALF_EVEN)
    whole = number.quantize(Decimal(1), context=EXACT) if place < 0 else number
    assert decimal_text(value, place) == format(abs(whole) if whole == 0 else whole, "f")
    bare = decimal_of(value).normalize(EXACT)
    assert decimal_text(value, None) == format(abs(bare) if bare == 0 else bare, "f")


@given(numbers())
@example((5e-14, 13))
def test_ties_and_grids(case):
    value, place = case
    scaled = decimal_of(value).scaleb(place, context=EXACT)
    ways = {rounded(value, place, rule) for rule in (ROUND_HALF_UP, ROUND_HALF_EVEN)}
    assert is_rounding_safe(value, place) == (
        len(ways) == 1 and abs(abs(scaled) % 1 - Decimal("0.5")) > Decimal("0.05")
    )
    assert is_on_grid(value, place) == (decimal_of(value) == rounded(value, place, ROUND_HALF_EVEN))


@given(numbers(), st.decimals("0.000001", 2, places=6))
@example((0.0, 2), Decimal("0.005"))
@example((1e-13, 6), Decimal("0.0000004"))
def test_ends_of_an_interval(case, half):
    value, place = case
    span, grain = interval(value, half, place), unit(max(place, 0) + 3)
    exact = decimal_of(value)
    lower = (exact - half).quantize(grain, rounding=ROUND_FLOOR, context=EXACT)
    upper = (exact + half).quantize(grain, rounding=ROUND_CEILING, context=EXACT)
    assert (str(span.lower), str(span.upper)) == (str(lower), str(upper))
