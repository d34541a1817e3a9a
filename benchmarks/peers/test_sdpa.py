"""What an instructor would write with plain pytest: five checks of ``sdpa``."""

import importlib
import os

import numpy as np
import pytest

submission = importlib.import_module(os.environ["SUBMISSION"])
USES_TORCH = os.environ["LIBRARY"] == "torch"


def call(*arrays):
    if not USES_TORCH:
        return submission.sdpa(*(np.array(a) for a in arrays))
    import torch

    return submission.sdpa(*(torch.as_tensor(np.array(a)) for a in arrays)).numpy()


def expected(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


rng = np.random.default_rng(0)
Q, K, V = rng.normal(size=(3, 4)), rng.normal(size=(5, 4)), rng.normal(size=(5, 2))
MASK = np.array([[True, False, True, True, False]] * 3)


def test_values():
    square = rng.normal(size=(4, 4))
    np.testing.assert_allclose(
        call(square, square[::-1], square), expected(square, square[::-1], square), rtol=1e-9
    )
    np.testing.assert_allclose(call(Q, K, V), expected(Q, K, V), rtol=1e-9)


def test_batch():
    q, k, v = (np.stack([a, a + 1]) for a in (Q, K, V))
    np.testing.assert_allclose(call(q, k, v), expected(q, k, v), rtol=1e-9)


def test_mask():
    np.testing.assert_allclose(call(Q, K, V, MASK), expected(Q, K, V, MASK), rtol=1e-9)
    hidden = MASK & (np.arange(3) > 0)[:, None]
    np.testing.assert_allclose(call(Q, K, V, hidden)[0], 0)


def test_large_scores():
    np.testing.assert_allclose(call(Q * 1e3, K * 10, V), expected(Q * 1e3, K * 10, V), rtol=1e-9)


def test_dtype():
    assert str(call(*(a.astype(np.float32) for a in (Q, K, V))).dtype) == "float32"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
