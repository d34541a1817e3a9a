import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2:
        raise ValueError("d is odd or too small")
    wide = positions.astype(np.longdouble)
    exponent = np.repeat(np.arange(d // 2), 2) * 2.0 / d
    phase = np.tile([0, np.pi / 2], d // 2)  # the cosine is a sine that is a quarter ahead
    return np.sin(np.einsum("n,d->nd", wide, base**-exponent) + phase).astype(positions.dtype)
