import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("d must be even, and every row needs one position")
    frequencies = base ** (-np.arange(d // 2) / d)
    angles = positions[:, None] * frequencies.astype(x.dtype)
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = x[..., : d // 2], x[..., d // 2 :]
    turned = np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)
    return turned.reshape(x.shape)
