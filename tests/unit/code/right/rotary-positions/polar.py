import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("polar coordinates need pairs")
    radius = np.hypot(x[..., 0::2], x[..., 1::2])
    angle = np.arctan2(x[..., 1::2], x[..., 0::2]).astype(np.float64)
    angle = angle + positions[:, None] / np.power(base, np.arange(0, d, 2) / d)
    out = np.zeros(x.shape, x.dtype)
    out[..., 0::2] = radius * np.cos(angle)
    out[..., 1::2] = radius * np.sin(angle)
    return out
