import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    z = x[..., 0::2] + 1j * x[..., 1::2]
    z = z * np.exp(-1j * positions[:, None] * base ** (-np.arange(0, d, 2) / d))
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape).astype(x.dtype)
