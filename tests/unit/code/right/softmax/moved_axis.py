import numpy as np


def softmax(x, axis=-1):
    """Brings the axis to the front, works on a matrix, puts it back."""
    front = np.moveaxis(x, axis, 0)
    flat = front.reshape(front.shape[0], -1).astype(np.float64)
    flat = flat - flat.max(axis=0)
    flat = np.exp(flat)
    flat = flat / np.einsum("ij->j", flat)
    return np.moveaxis(flat.reshape(front.shape), 0, axis).astype(x.dtype)
