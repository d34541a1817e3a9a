"""The hand-work behind tolerances computes what the reference computes, when nothing is rounded."""

from __future__ import annotations

import numpy as np
import pytest

from engine.expressions.functions import FUNCTIONS
from engine.expressions.language import evaluate
from engine.expressions.precision import PaperRounding, rounding_slack
from reference.tangents import plain


def d(values):
    return np.array(values)


def t(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)


# d_q, d_k, d_a, n and m all differ, so that no transposition goes unnoticed
NAMES = {
    "q": t(3), "K": t(4, 3, seed=2), "W": t(5, 3, seed=3), "U": t(5, 3, seed=4), "v": t(5, seed=5),
    "B": t(3, 3, seed=6), "W1": t(5, 6, seed=7), "Q": t(2, 3, seed=8), "V": t(4, 2, seed=9),
    "X": t(4, 6, seed=10), "Wq": t(6, 4, seed=11), "Wk": t(6, 4, seed=12), "Wv": t(6, 4, seed=13),
    "Wo": t(4, 6, seed=14), "w": d([0.1, 0.45, 0.15, 0.3]), "mask": d([1.0, 0.0, 1.0, 1.0]),
    "h": t(3, seed=16), "R": t(3, 3, seed=17), "y": t(2, seed=18), "Wx": t(4, 5, seed=19),
    "Ws": t(4, 4, seed=20), "Wy": t(3, 4, seed=21), "s": t(4, seed=22), "Wd": t(5, 4, seed=23),
}  # fmt: skip
CALLS = {
    "matmul": "matmul(Q, transpose(K))",
    "matvec": "matvec(W, q)",
    "dot": "dot(q, h)",
    "mean": "mean(K)",
    "norm": "norm(q)",
    "softmax": "softmax(K, temperature=2)",
    "masked_softmax": "masked_softmax(w, mask)",
    "dot_scores": "dot_scores(Q, K)",
    "scaled_dot_scores": "scaled_dot_scores(q, K)",
    "bilinear_scores": "bilinear_scores(q, K, B)",
    "additive_scores": "additive_scores(q, K, W, U, v)",
    "concat_scores": "concat_scores(q, K, W1, v)",
    "alignment_vector": "alignment_vector(h, q, W, U)",
    "context": "context(w, K)",
    "sdpa": "sdpa(Q, K, V, [mask, mask])",
    "rnn_step": "rnn_step(q, h, R, B, 'tanh')",
    "decoder_scores": "decoder_scores(y, s, K, Wd, U, v, Wx, Ws, Wy)",
    "decoder_weights": "decoder_weights(y, s, K, Wd, U, v, Wx, Ws, Wy)",
    "decoder_context": "decoder_context(y, s, K, Wd, U, v, Wx, Ws, Wy)",
    "decoder_state": "decoder_state(y, s, K, Wd, U, v, Wx, Ws, Wy)",
    "decoder_probabilities": "decoder_probabilities(y, s, K, Wd, U, v, Wx, Ws, Wy)",
    "self_attention": "self_attention(X, Wq, Wk, Wv, causal=True)",
    "multi_head": "multi_head(X, Wq, Wk, Wv, Wo, 2)",
}


def test_every_function_with_hand_work_is_listed():
    assert {name for name, f in FUNCTIONS.items() if f.by_hand is not None} == set(CALLS)


@pytest.mark.parametrize(
    "text", [*CALLS.values(), "softmax([-3, -5, -2])", "softmax([700, 701])", "w @ K / 3 ** 0.5"]
)
def test_hand_work_equals_the_reference(text):
    by_hand = PaperRounding(3).evaluate(text, NAMES)
    np.testing.assert_allclose(plain(by_hand), evaluate(text, NAMES), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_every_hand_work_feels_rounding(name):
    slack = rounding_slack(CALLS[name], NAMES, {}, 3)
    assert min(slack) > 0
    assert max(slack) < 0.2


def test_exact_sums_have_no_slack():
    names = {"w": d([0.3, 0.7]), "H": d([[1.0, 1.0], [2.0, 0.0]])}
    assert rounding_slack("context(w, H)", names, {}, 2) == (0.0, 0.0)


def test_one_rounding_is_half_a_unit():
    (slack,) = rounding_slack("p * q", {"p": 0.25, "q": 0.3}, {}, 2)
    assert slack == pytest.approx(0.005 * 1.05)
    assert rounding_slack("p * q", {"p": 0.25, "q": 0.3}, {}, 3) == (0.0,)


def test_derived_values_are_rounded_on_the_way():
    # a = 1/3 is off by up to 0.005, and so 10 a by up to 0.05, besides its own rounding
    slack = rounding_slack("10 * a", {"a": d(1 / 3), "k": 3}, {"a": "1 / k"}, 2)
    assert slack[0] == pytest.approx((0.05 + 0.005) * 1.05)


def test_carried_values_move_the_key():
    names = {"e": d([1.0, 2.0])}
    slack = rounding_slack("e[0] + 3 * e[1]", names, {}, 6, {"e": (0.01, 0.02)})
    assert slack[0] == pytest.approx((0.07 + 5e-7) * 1.05, rel=1e-3)
