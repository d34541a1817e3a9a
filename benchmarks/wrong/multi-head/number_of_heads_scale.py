import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    if h < 1:
        raise ValueError("at least one head")
    if Wq.shape[1] % h:
        raise ValueError("does not divide")
    result = []
    for q, k, v in zip(np.split(X @ Wq, h, 1), np.split(X @ Wk, h, 1), np.split(X @ Wv, h, 1)):
        s = q @ k.T / h**0.5
        s = s - s.max(1, keepdims=True)
        a = np.exp(s)
        a /= a.sum(1, keepdims=True)
        result.append(a @ v)
    return np.hstack(result) @ Wo
