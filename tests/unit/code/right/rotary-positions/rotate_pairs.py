import numpy as np


def partner(x):
    """(-x1, x0, -x3, x2, ...)"""
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    return np.stack([-pairs[..., 1], pairs[..., 0]], axis=-1).reshape(x.shape)


def rotary_positions(x, positions, base=10000.0):
    if x.shape[-1] % 2 != 0 or positions.shape != (x.shape[-2],):
        raise ValueError("the sizes don't fit")
    theta = np.repeat(base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1]), 2).astype(x.dtype)
    angle = np.multiply.outer(positions, theta)
    return x * np.cos(angle) + partner(x) * np.sin(angle)
