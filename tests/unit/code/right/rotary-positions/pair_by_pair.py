import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2], x.shape[-1]
    if d % 2 or positions.shape != (n,):
        raise ValueError((x.shape, positions.shape))
    out = x.copy()
    for pair in range(d // 2):
        a = positions * x.dtype.type(base ** (-2 * pair / d))
        u, v = x[..., 2 * pair], x[..., 2 * pair + 1]
        out[..., 2 * pair] = u * np.cos(a) - v * np.sin(a)
        out[..., 2 * pair + 1] = v * np.cos(a) + u * np.sin(a)
    return out
