"""A right solution."""

import numpy as np


def softmax(x, axis=-1):
    """Turn scores into weights along an axis."""
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)
