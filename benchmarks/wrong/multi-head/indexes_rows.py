import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    width = Wq.shape[1]
    if h < 1 or width % h:
        raise ValueError("heads")
    total = 0
    for block in np.arange(width).reshape(h, width // h):
        a = (X @ Wq[:, block]) @ (X @ Wk[:, block]).T / (width // h) ** 0.5
        a = np.exp(a - a.max(1, keepdims=True))
        total = total + (a / a.sum(1, keepdims=True)) @ (X @ Wv[:, block]) @ Wo[block, :]
    return total
