import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    angle = np.multiply.outer(positions, base ** (-np.linspace(0, 1, d // 2, endpoint=False)))
    a, b = np.moveaxis(x.reshape(*x.shape[:-1], d // 2, 2), -1, 0)
    result = np.zeros(x.shape)
    result[..., ::2] = a * np.cos(angle) - b * np.sin(angle)
    result[..., 1::2] = a * np.sin(angle) + b * np.cos(angle)
    return result
