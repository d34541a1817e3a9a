"""Parameters are exact decimals within their ranges."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from pydantic import TypeAdapter

from engine.draws import ImpossibleDraw, RandomStream, draw_parameter
from engine.expressions.values import value_of
from engine.items.field_types import ParameterSpec

ADAPTER = TypeAdapter(ParameterSpec)


def drawn(seed=0, names=None, **spec):
    return draw_parameter(ADAPTER.validate_python(spec), RandomStream(seed), names or {})


def many(count=200, names=None, **spec):
    parsed, stream = ADAPTER.validate_python(spec), RandomStream(9)
    return [draw_parameter(parsed, stream, names or {}) for _ in range(count)]


def test_fixed_keeps_the_decimals_as_written():
    found = drawn(kind="fixed", value=[[0.5, -0.3], [0.2, 1]])
    assert found.shape == (2, 2)
    assert found.entries == ("0.5", "-0.3", "0.2", "1")


def test_fixed_word():
    found = drawn(kind="fixed", value="softmax")
    assert found.text
    assert value_of(found) == "softmax"


def test_integer_has_both_bounds_and_leaves_out_what_is_excluded():
    values = {value_of(d) for d in many(kind="integer", range=[-2, 3], exclude=[0])}
    assert values == {-2, -1, 1, 2, 3}


def test_decimals_are_exact_multiples_of_the_step():
    found = many(400, kind="decimal", range=[-0.9, 0.9], step=0.1, exclude=[0])
    texts = {d.entries[0] for d in found}
    assert len(texts) == 18
    assert texts == {f"{sign}0.{i}" for i in range(1, 10) for sign in ("", "-")}


def test_zero_is_drawn_without_a_sign():
    texts = {d.entries[0] for d in many(kind="decimal", range=[-0.1, 0.1], step=0.1)}
    assert texts == {"-0.1", "0.0", "0.1"}


def test_choice_of_numbers_and_words():
    assert {value_of(d) for d in many(kind="choice", **{"from": [4, 9]})} == {4, 9}
    assert {value_of(d) for d in many(kind="choice", **{"from": ["tanh", "logistic"]})} == {
        "tanh",
        "logistic",
    }


def test_vector_sizes_may_be_expressions():
    found = drawn(names={"n": 3}, kind="vector", size="n + 1", range=[-2, 3], distinct=True)
    assert found.shape == (4,)
    assert len(set(found.entries)) == 4


def test_distinct_vectors_have_no_repetition():
    assert all(len(set(d.entries)) == 6 for d in many(kind="vector", size=6, range=[0, 5], distinct=True))


def test_matrix_rows_differ():
    for found in many(kind="matrix", shape=[3, 2], range=[0, 1], distinct_rows=True):
        rows = {found.entries[i : i + 2] for i in (0, 2, 4)}
        assert len(rows) == 3


def test_weights_sum_to_one_exactly_and_are_positive():
    for found in many(kind="weights", size=4, step=0.1, distinct=True):
        values = [Decimal(entry) for entry in found.entries]
        assert sum(values) == 1
        assert min(values) > 0
        assert len(set(values)) == 4


def test_all_weights_are_drawn_equally():
    # 4 steps in 2 parts: 1+3, 2+2, 3+1
    found = [d.entries for d in many(3000, kind="weights", size=2, step=0.25)]
    counts = [found.count(pair) for pair in set(found)]
    assert len(counts) == 3
    assert all(abs(count - 1000) < 120 for count in counts)


def test_probability_tree_rows():
    for found in many(30, kind="probability_tree", vocabulary=3, depth=3, step=0.01):
        assert found.shape == (1 + 3 + 9, 3)
        for i in range(13):
            row = [Decimal(entry) for entry in found.entries[3 * i : 3 * i + 3]]
            assert sum(row) == 1
            assert len(set(row)) == 3
            assert min(row) > 0


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"kind": "vector", "size": "n", "range": [0, 3]}, "size"),
        ({"kind": "vector", "size": "m", "range": [0, 3]}, "size"),
        ({"kind": "weights", "size": "k", "step": 0.1}, "split"),
        ({"kind": "vector", "size": "k", "range": [0, 3], "distinct": True}, "distinct"),
        ({"kind": "matrix", "shape": ["k", 1], "range": [0, 3], "distinct_rows": True}, "distinct rows"),
    ],
)
def test_what_can_not_be_drawn_says_why(spec, reason):
    with pytest.raises(ImpossibleDraw, match=reason):
        drawn(names={"n": 0, "m": 2.5, "k": 16}, **spec)


def test_values_are_stored_as_text_and_come_back():
    found = drawn(kind="vector", size=3, range=[-0.9, 0.9], step=0.1)
    assert value_of(found).tolist() == [float(entry) for entry in found.entries]


def test_rows_of_a_tree_stand_in_the_order_of_their_prefixes():
    found = drawn(kind="probability_tree", vocabulary=2, depth=2, step=0.1)
    rows = [found.entries[i : i + 2] for i in range(0, 6, 2)]
    assert all(sum(map(Decimal, row)) == 1 for row in rows)
    assert len(list(pairwise(rows))) == 2
