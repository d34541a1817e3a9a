import numpy as np


def softmax_vjp(w, g):
    if g.shape != w.shape:
        raise ValueError("one gradient for each weight")
    result = np.zeros(w.shape, w.dtype)
    n = w.shape[-1]
    for index in np.ndindex(w.shape[:-1]):
        for i in range(n):
            total = 0.0
            for j in range(n):
                delta = 1.0 if i == j else 0.0
                total += float(g[index][j]) * float(w[index][j]) * (delta - float(w[index][i]))
            result[index][i] = total
    return result
