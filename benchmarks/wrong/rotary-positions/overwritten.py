import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    y = x.copy()
    for i in range(0, d, 2):
        a = positions * x.dtype.type(base ** (-i / d))
        y[..., i] = y[..., i] * np.cos(a) - y[..., i + 1] * np.sin(a)
        y[..., i + 1] = y[..., i] * np.sin(a) + y[..., i + 1] * np.cos(a)
    return y
