"""What a beam keeps when it is searched in a wrong way, compared with tables worked out on paper."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import ExpressionError
from engine.expressions.language import evaluate

CLOSE = [[0.4, 0.36, 0.24], [0.40, 0.31, 0.29], [0.5, 0.45, 0.05], [0.3, 0.35, 0.35]]
# products: AA .238, AB .233, AC .229, BA .18, CA .06; sums: BA 1.1, AA 1.04, AB 1.033
STEEP = [[0.7, 0.2, 0.1], [0.34, 0.333, 0.327], [0.9, 0.06, 0.04], [0.6, 0.3, 0.1]]


@pytest.mark.parametrize(
    ("table", "text", "survivors"),
    [
        (CLOSE, "beam_survivors(T, 2, 2)", "BA, BB"),
        (CLOSE, "mistaken_survivors(T, 2, 2, 'm-beam-best')", "AA, AB"),
        (CLOSE, "mistaken_survivors(T, 2, 2, 'm-beam-per')", "BA, BB, AA, AB"),
        (CLOSE, "mistaken_survivors(T, 2, 1, 'm-beam-per')", "A, B"),
        (CLOSE, "mistaken_survivors(T, 2, 2, 'm-survivors-order')", "BB, BA"),
        (STEEP, "beam_survivors(T, 3, 2)", "AA, AB, AC"),
        (STEEP, "mistaken_survivors(T, 3, 2, 'm-survivors-order')", "AC, AB, AA"),
        (STEEP, "mistaken_survivors(T, 3, 2, 'm-beam-sum')", "BA, AA, AB"),
        (STEEP, "mistaken_survivors(T, 3, 2, 'm-beam-last')", "BA, CA, AA"),
    ],
)
def test_survivors(table, text, survivors):
    assert evaluate(text, {"T": np.array(table)}) == survivors


def test_an_unknown_mistake_is_named():
    with pytest.raises(ExpressionError, match="m-beam-lost"):
        evaluate("mistaken_survivors(T, 2, 2, 'm-beam-lost')", {"T": np.array(CLOSE)})
