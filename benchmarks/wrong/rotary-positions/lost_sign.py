import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    angle = np.repeat(np.outer(positions, base ** (-np.arange(d // 2) / (d // 2))), 2, axis=1).astype(x.dtype)
    swapped = x.reshape(*x.shape[:-1], d // 2, 2)[..., ::-1].reshape(x.shape)
    return x * np.cos(angle) + swapped * np.sin(angle)
