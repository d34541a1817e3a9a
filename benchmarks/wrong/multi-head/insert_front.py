import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    dm = Wq.shape[1]
    if h < 1 or dm % h:
        raise ValueError("h")
    d = dm // h
    stack = []
    for i in range(h):
        block = slice(i * d, i * d + d)
        q, k, v = X @ Wq[:, block], X @ Wk[:, block], X @ Wv[:, block]
        s = q @ k.T / d**0.5
        s = np.exp(s - s.max(axis=-1, keepdims=True))
        stack.append(s / s.sum(axis=-1, keepdims=True) @ v)
    joined = stack.pop()
    while stack:
        joined = np.hstack([joined, stack.pop()])
    return joined @ Wo
