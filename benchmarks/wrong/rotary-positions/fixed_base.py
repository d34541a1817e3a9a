import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    angle = (positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)).astype(x.dtype)
    c, s = np.cos(angle), np.sin(angle)
    R = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
    return np.einsum("npij,...npj->...npi", R, x.reshape(*x.shape[:-1], d // 2, 2)).reshape(x.shape)
