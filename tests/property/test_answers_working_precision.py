"""Whoever rounds every intermediate to the working precision gets full marks.

The students here compute with decimals in plain loops; they share no code with the reference, nor with
the hand-work from which the tolerance comes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers.asked_precision import AskedPrecision
from engine.answers.base import FieldContext
from engine.expressions.language import evaluate
from engine.expressions.values import array_of
from engine.model import FloatArray

Round = Callable[[Any], Decimal]


def rounder(places: int, rule: str) -> Round:
    step = Decimal(1).scaleb(-places)
    return lambda x: Decimal(x).quantize(step, rounding=rule)


def product(r: Round, rows: Any, x: Any) -> list[Decimal]:
    """Multiply, writing down every product and every sum."""
    found = []
    for row in rows:
        total = Decimal(0)
        for a, b in zip(row, x, strict=True):
            total = r(total + r(a * b))
        found.append(total)
    return found


def exponential(x: Decimal) -> Decimal:
    return Decimal(math.exp(x))


def plain_softmax(r: Round, scores: Any) -> list[Decimal]:
    powers = [r(exponential(x)) for x in scores]
    return [r(p / r(sum(powers))) for p in powers]


def shifted_softmax(r: Round, scores: Any) -> list[Decimal]:
    return plain_softmax(r, [r(x - max(scores)) for x in scores])


def tanh(r: Round, values: Any) -> list[Decimal]:
    return [r(Decimal(math.tanh(x))) for x in values]


def transposed(rows: Any) -> list[Any]:
    return list(zip(*rows, strict=True))


def additive(r: Round, n: Any) -> list[Decimal]:
    from_state = product(r, n["W"], n["s"])
    found = []
    for h in n["H"]:
        inner = [r(a + b) for a, b in zip(from_state, product(r, n["U"], h), strict=True)]
        found.append(product(r, [n["v"]], tanh(r, inner))[0])
    return found


def scaled(r: Round, n: Any) -> list[Decimal]:
    root = r(Decimal(len(n["s"])).sqrt())
    return [r(x / root) for x in product(r, n["H"], n["s"])]


def mixed(r: Round, weights: Any, rows: Any) -> list[Decimal]:
    return product(r, transposed(rows), weights)


STUDENTS: dict[str, tuple[str, Callable[[Round, Any], list[Decimal]]]] = {
    "weights": ("softmax(e)", lambda r, n: plain_softmax(r, n["e"])),
    "weights, shifted": ("softmax(e)", lambda r, n: shifted_softmax(r, n["e"])),
    "scores": ("additive_scores(s, H, W, U, v)", additive),
    "attention": (
        "context(softmax(additive_scores(s, H, W, U, v)), H)",
        lambda r, n: mixed(r, plain_softmax(r, additive(r, n)), n["H"]),
    ),
    "scaled dot product": ("scaled_dot_scores(s, H)", scaled),
    "sdpa": ("sdpa(s, H, H)", lambda r, n: mixed(r, shifted_softmax(r, scaled(r, n)), n["H"])),
    "state": (
        "tanh(W @ s + U @ H[0])",
        lambda r, n: tanh(
            r,
            [
                r(a + b)
                for a, b in zip(product(r, n["W"], n["s"]), product(r, n["U"], n["H"][0]), strict=True)
            ],
        ),
    ),
    "output": (
        "softmax(W @ tanh(U @ s))",
        lambda r, n: plain_softmax(r, product(r, n["W"], tanh(r, product(r, n["U"], n["s"])))),
    ),
    "chain": (
        "[p[0] * p[1] * p[2]]",
        lambda r, n: [r(r(n["p"][0] * n["p"][1]) * n["p"][2])],
    ),
    "bilinear": (
        "bilinear_scores(s, H, W)",
        lambda r, n: product(r, n["H"], product(r, transposed(n["W"]), n["s"])),
    ),
}


def decimals(low: int, high: int, step: str) -> st.SearchStrategy[Decimal]:
    return st.integers(low, high).map(lambda k: k * Decimal(step))


def vectors(size: int, low: int, high: int, step: str) -> st.SearchStrategy[list[Decimal]]:
    return st.lists(decimals(low, high, step), min_size=size, max_size=size)


def matrices(
    rows: int, columns: int, low: int, high: int, step: str
) -> st.SearchStrategy[list[list[Decimal]]]:
    return st.lists(vectors(columns, low, high, step), min_size=rows, max_size=rows)


NUMBERS = st.fixed_dictionaries(
    {
        "e": vectors(3, -25, 30, "0.1"),
        "W": matrices(2, 2, -9, 9, "0.1"),
        "U": matrices(2, 2, -9, 9, "0.1"),
        "v": vectors(2, -2, 2, "1"),
        "H": matrices(3, 2, -3, 3, "0.5"),
        "s": vectors(2, -4, 4, "0.5"),
        "p": vectors(3, 1, 9, "0.1"),
    }
)


def as_names(numbers: Any) -> dict[str, Any]:
    def floats(value: Any) -> Any:
        return [floats(x) for x in value] if isinstance(value, list) else float(value)

    return {name: np.array(floats(value)) for name, value in numbers.items()}


@pytest.mark.parametrize("student", sorted(STUDENTS))
@given(
    numbers=NUMBERS,
    places=st.sampled_from([(2, 3), (3, 3), (3, 4), (4, 4), (2, 5)]),
    rule=st.sampled_from([ROUND_HALF_EVEN, ROUND_HALF_UP]),
)
def test_rounding_every_intermediate_is_right(student, numbers, places, rule):
    asked_places, working = places
    text, work = STUDENTS[student]
    names = as_names(numbers)
    key = array_of(evaluate(text, names))
    spans = AskedPrecision(text, decimals=asked_places, working_decimals=working).intervals(
        key, FieldContext(names)
    )
    r, final = rounder(working, rule), rounder(asked_places, rule)
    answer = [Fraction(final(x)) for x in work(r, numbers)]
    assert all(span.holds(x) for span, x in zip(spans, answer, strict=True)), (spans, answer)


@pytest.mark.parametrize("student", sorted(STUDENTS))
@given(numbers=NUMBERS)
def test_intervals_stay_narrow(student, numbers):
    """With two decimals in reserve, hardly more than half a unit is accepted."""
    text, _ = STUDENTS[student]
    names = as_names(numbers)
    key = array_of(evaluate(text, names))
    spans = AskedPrecision(text, decimals=3, working_decimals=6).intervals(key, FieldContext(names))
    for span, value in zip(spans, key.data, strict=True):
        assert Fraction(span.upper) - Fraction(span.lower) < Fraction("0.0011")
        assert span.holds(Fraction(round(value, 3)).limit_denominator(1000))


def test_half_a_unit_alone_would_fail_correct_hand_work():
    """What the tolerance is for: three weights rounded to 3 places, then mixed."""
    names = as_names(
        {"e": [Decimal("1.3"), Decimal("-0.4"), Decimal("0.9")], "H": [[7, -3], [5, 9], [-8, 4]]}
    )
    key: FloatArray = array_of(evaluate("context(softmax(e), H)", names))
    r = rounder(3, ROUND_HALF_EVEN)
    weights = plain_softmax(r, [Decimal("1.3"), Decimal("-0.4"), Decimal("0.9")])
    answer = mixed(r, weights, [[7, -3], [5, 9], [-8, 4]])
    assert any(abs(float(a) - x) > 0.0005 for a, x in zip(answer, key.data, strict=True))
    spans = AskedPrecision("context(softmax(e), H)", decimals=3, working_decimals=3).intervals(
        key, FieldContext(names)
    )
    assert all(span.holds(Fraction(a)) for span, a in zip(spans, answer, strict=True))
