import numpy as np


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("w and g must have the same shape")
    expected = np.einsum("...n,...n->...", w, g)[..., None]
    grad = g - expected
    nothing = ~np.any(w, axis=-1)
    grad[nothing] = 0
    return grad
