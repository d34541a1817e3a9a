import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n, _ = X.shape
    dm = Wq.shape[1]
    if h < 1 or dm % h:
        raise ValueError(f"{h} heads for {dm} columns")
    if not Wq.shape == Wk.shape == Wv.shape:
        raise ValueError("Wq, Wk and Wv differ in shape")

    def split(M):  # (n, dm) -> (h, n, dm / h)
        return (X @ M).reshape(n, h, dm // h).transpose(1, 0, 2)

    Q, K, V = split(Wq), split(Wk), split(Wv)
    scores = Q @ K.swapaxes(1, 2) / (dm // h) ** 0.5
    scores -= scores.max(axis=2, keepdims=True)
    weights = np.exp(scores)
    weights /= weights.sum(axis=2, keepdims=True)
    return (weights @ V).transpose(1, 0, 2).reshape(n, dm) @ Wo
