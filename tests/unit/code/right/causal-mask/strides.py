import numpy as np


def causal_mask(n):
    if n < 0:
        raise ValueError("n < 0")
    if n == 0:
        return np.ones((0, 0), bool)
    line = np.repeat([True, False], [n, n - 1])
    return np.lib.stride_tricks.sliding_window_view(line, n)[::-1].copy()
