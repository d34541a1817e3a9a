import numpy as np


def softmax_vjp(w, g):
    """w_i sum_j w_j (g_i - g_j), which uses that the weights sum to 1; no visible entry: w is 0 anyway."""
    if w.shape != g.shape:
        raise ValueError("not the same shape")
    difference = np.expand_dims(g, -1) - np.expand_dims(g, -2)
    return w * np.matmul(difference, w[..., None]).squeeze(-1)
