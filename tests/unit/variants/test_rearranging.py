"""Entries and rows are put where an expression says."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import ExpressionError
from engine.expressions.language import evaluate

NAMES = {
    "v": np.array([5.0, 7.0, 6.0]),
    "H": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("take(v, [2, 0])", [6, 5]),
        ("take(v, argsort(v))", [5, 6, 7]),
        ("take(H, [-1, 0, 0])", [[5, 6], [1, 2], [1, 2]]),
        ("with_row(H, 1, [8, 9])", [[1, 2], [8, 9], [5, 6]]),
        ("with_row(H, -1, H[0])", [[1, 2], [3, 4], [1, 2]]),
    ],
)
def test_rearranged(text, value):
    assert evaluate(text, NAMES).tolist() == value


def test_the_matrix_that_was_given_stays_as_it_is():
    evaluate("with_row(H, 0, [0, 0])", NAMES)
    assert NAMES["H"].tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize(
    "text", ["take(v, [3])", "with_row(H, 3, [0, 0])", "with_row(H, 0, [1, 2, 3])", "take(1, [0])"]
)
def test_what_does_not_fit_is_refused(text):
    with pytest.raises(ExpressionError):
        evaluate(text, NAMES)
