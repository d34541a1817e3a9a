import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    if h < 1 or Wq.shape[1] % h != 0:
        raise ValueError("h must divide the number of columns")
    heads = []
    for head in range(h):
        Q = X @ Wq[:, head::h]
        K = X @ Wk[:, head::h]
        V = X @ Wv[:, head::h]
        scores = Q @ K.T / Q.shape[1] ** 0.5
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(e / e.sum(axis=1, keepdims=True) @ V)
    return np.concatenate(heads, axis=1) @ Wo
