"""Checks of ``sdpa(Q, K, V, mask=None)``."""

from __future__ import annotations

import numpy as np
from checks import Call, check, near

_rng = np.random.default_rng(1)
Q, K, V = _rng.normal(size=(3, 4)), _rng.normal(size=(5, 4)), _rng.normal(size=(5, 2))
SQUARE = _rng.normal(size=(4, 4))
EYE = np.eye(5)
MASK = np.array(
    [[True, False, True, True, False], [False, True, True, False, True], [True, True, False, False, True]]
)
BATCH = tuple(_rng.normal(size=(2, *a.shape)) for a in (Q, K, V))


def expected(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])  # (..., m, n)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


@check
def shape(call: Call) -> None:
    assert call(Q, K, V).shape == (3, 2)
    assert call(SQUARE, SQUARE, SQUARE).shape == (4, 4)
    assert call(*BATCH).shape == (2, 3, 2)


@check
def values(call: Call) -> None:
    near(call(Q, K, V), expected(Q, K, V))
    near(call(SQUARE, SQUARE[::-1], SQUARE), expected(SQUARE, SQUARE[::-1], SQUARE))


@check
def weights_sum(call: Call) -> None:
    near(call(Q, K, np.full((5, 2), 3.0)), np.full((3, 2), 3.0))


@check
def order(call: Call) -> None:
    ranked = np.take_along_axis(call(Q, K, EYE), np.argsort(Q @ K.T, -1), -1)
    assert (np.diff(ranked, axis=-1) > 0).all()


@check
def hull(call: Call) -> None:
    v = V + 5.0
    for mask in ((), (MASK,)):
        output = call(Q, K, v, *mask)
        assert (output >= v.min(0) - 1e-9).all()
        assert (output <= v.max(0) + 1e-9).all()


@check
def nonneg(call: Call) -> None:
    assert (call(Q, K, EYE) >= 0).all()


@check
def log_weights(call: Call) -> None:
    weights = call(Q, K, EYE)
    assert (weights > 0).all()
    near(np.diff(np.log(weights), axis=-1), np.diff(Q @ K.T, axis=-1) / 2, rtol=1e-6, atol=1e-8)


@check
def same_keys(call: Call) -> None:
    near(call(Q, np.repeat(K[:1], 5, 0), V), np.tile(V.mean(0), (3, 1)))


@check
def one_key(call: Call) -> None:
    near(call(Q, K[:1], V[:1]), np.repeat(V[:1], 3, 0))


@check
def joint_perm(call: Call) -> None:
    turn = [3, 0, 4, 1, 2]
    near(call(Q, K[turn], V[turn]), call(Q, K, V))


@check
def query_perm(call: Call) -> None:
    turn = [2, 0, 1]
    near(call(Q[turn], K, V), call(Q, K, V)[turn])


@check
def linear_v(call: Call) -> None:
    other = V[::-1] + 0.5
    near(call(Q, K, 2 * V - 3 * other), 2 * call(Q, K, V) - 3 * call(Q, K, other), atol=1e-9)


@check
def tile_law(call: Call) -> None:
    near(call(np.tile(Q, 4), np.tile(K, 4), V), call(2 * Q, K, V))


@check
def key_shift(call: Call) -> None:
    near(call(Q, K + np.array([0.5, -1.0, 2.0, 0.25]), V), call(Q, K, V), atol=1e-9)


@check
def batch(call: Call) -> None:
    parts = [call(*(a[i] for a in BATCH)) for i in range(2)]
    near(call(*BATCH), np.stack(parts))


@check
def masked_values(call: Call) -> None:
    near(call(Q, K, V, MASK), expected(Q, K, V, MASK))
    whole = np.stack([MASK, MASK[::-1]])
    near(call(*BATCH, whole), expected(*BATCH, whole))


@check
def subset(call: Call) -> None:
    kept = [0, 2, 3]
    mask = np.tile(np.isin(np.arange(5), kept), (3, 1))
    near(call(Q, K, V, mask), call(Q, K[kept], V[kept]))


@check
def mask_irrel(call: Call) -> None:
    mask = np.tile(np.arange(5) != 1, (3, 1))
    k, v = K.copy(), V.copy()
    k[1], v[1] = 1e4, -1e4
    near(call(Q, k, v, mask), call(Q, K, V, mask))


@check
def all_true(call: Call) -> None:
    near(call(Q, K, V, np.ones((3, 5), bool)), call(Q, K, V))


@check
def fullmask(call: Call) -> None:
    mask = MASK.copy()
    mask[0] = False
    assert (call(Q, K, V, mask)[0] == 0).all()


@check
def stable(call: Call) -> None:
    near(call(Q * 1e3, K * 10, V), expected(Q * 1e3, K * 10, V))


@check
def dtype(call: Call) -> None:
    for name in ("float32", "float64"):
        result = call(*(a.astype(name) for a in (Q, K, V)))
        assert result.dtype == name, result.dtype


@check
def single_precision(call: Call) -> None:
    single = [a.astype(np.float32) for a in (Q, K, V)]
    for mask in ((), (MASK,)):
        result = call(*single, *mask).astype(np.float64)
        near(result, expected(*single, *mask), rtol=1e-4, atol=1e-6)


@check
def pure(call: Call) -> None:
    args = [call.native(a) for a in (Q, K, V, MASK)]
    first = np.array(call.raw(*args))
    for now, before in zip(args, (Q, K, V, MASK), strict=True):
        np.testing.assert_array_equal(np.array(now), before)
    np.testing.assert_array_equal(np.array(call.raw(*args)), first)


@check
def refuses(call: Call) -> None:
    kinds = (ValueError, RuntimeError) if call.uses_torch else ValueError
    for args in ((Q, K[:, :3], V), (Q, K, V[:4]), (Q, K, V, MASK[:, :4])):
        try:
            call(*args)
        except kinds:
            continue
        raise AssertionError("sizes that don't fit were taken")
