import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("d must be even, and every row needs one position")
    frequencies = base ** (-np.arange(0, d, 2) / d)
    angles = positions[:, None] * frequencies.astype(x.dtype)
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = x[..., 0::2], x[..., 1::2]
    turned = np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1)
    turned = turned.reshape(x.shape)
    return np.concatenate([turned[..., : d // 2], x[..., d // 2 :]], axis=-1)
