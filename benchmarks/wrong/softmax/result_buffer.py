import numpy as np


def softmax(x, axis=-1):
    moved = np.moveaxis(x, axis, -1)
    out = np.zeros(moved.shape)
    for idx in np.ndindex(*moved.shape[:-1]):
        row = moved[idx]
        e = np.exp(row - row.max())
        out[idx] = e / e.sum()
    return np.moveaxis(out, -1, axis)
