import numpy as np


def rotary_positions(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2 or positions.shape != x.shape[-2:-1]:
        raise ValueError("shapes")
    z = x[..., ::2] + 1j * x[..., 1::2]
    z = z * np.exp(1j * np.outer(positions, base ** (-np.arange(0, d, 2) / d)))
    out = np.empty_like(x, order="C", subok=False)
    out[..., ::2], out[..., 1::2] = z.real, z.imag
    return out
