import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("d must be even, and every row needs one position")
    frequencies = np.ones(d // 2)
    angles = positions[:, None] * frequencies.astype(x.dtype)
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = x[..., 0::2], x[..., 1::2]
    turned = np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1)
    return turned.reshape(x.shape)


def rotary_positions_1(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("d must be even, and every row needs one position")
    frequencies = np.full(d // 2, 1 / base)
    angles = positions[:, None] * frequencies.astype(x.dtype)
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = x[..., 0::2], x[..., 1::2]
    turned = np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1)
    return turned.reshape(x.shape)
