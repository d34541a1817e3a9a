import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    angle = np.outer(np.arange(n), base ** (-2 * np.arange(d // 2) / d)).astype(x.dtype)
    c, s = np.tile(np.cos(angle), 2), np.tile(np.sin(angle), 2)
    half = np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], axis=-1)
    return x * c + half * s
