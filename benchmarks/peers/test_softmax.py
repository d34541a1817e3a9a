"""What an instructor would write with plain pytest: five checks of ``softmax``."""

import importlib
import os

import numpy as np
import pytest

submission = importlib.import_module(os.environ["SUBMISSION"])
USES_TORCH = os.environ["LIBRARY"] == "torch"


def call(x, axis=-1):
    if not USES_TORCH:
        return submission.softmax(np.array(x), axis)
    import torch

    return submission.softmax(torch.as_tensor(np.array(x)), axis).numpy()


def expected(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


X = np.random.default_rng(0).normal(size=(3, 4)) * 3
SQUARE = np.random.default_rng(1).normal(size=(3, 3)) * 3


def test_values():
    np.testing.assert_allclose(call(X), expected(X), rtol=1e-9)


def test_sums_to_one():
    np.testing.assert_allclose(call(SQUARE).sum(-1), 1, rtol=1e-9)


def test_shift():
    np.testing.assert_allclose(call(X + 64), call(X), rtol=1e-9)


def test_large_scores():
    big = np.array([[1e4, 0.0, -1e4], [-1e4, -1e4 - 1, -1e4 - 2]])
    np.testing.assert_allclose(call(big), expected(big), rtol=1e-9, atol=1e-12)


def test_dtype_and_purity():
    x = X.astype(np.float32)
    if USES_TORCH:
        import torch

        x = torch.as_tensor(x)
    before = np.array(x)
    result = submission.softmax(x)
    assert str(result.dtype).endswith("float32")
    np.testing.assert_array_equal(np.array(x), before)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
