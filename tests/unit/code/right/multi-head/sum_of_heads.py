import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    """[head_1 ... head_h] Wo = sum_i head_i Wo_i, where Wo_i are the rows of head i."""
    if h < 1:
        raise ValueError("h must be positive")
    for W in (Wk, Wv, Wo.T):
        if W.shape[1] != Wq.shape[1]:
            raise ValueError("all heads together must have the same size everywhere")
    if Wq.shape[1] % h:
        raise ValueError("h must divide dm")
    parts = (np.split(Wq, h, axis=1), np.split(Wk, h, axis=1), np.split(Wv, h, axis=1), np.split(Wo, h))
    return sum(one_head(X, *part) for part in zip(*parts, strict=True))


def one_head(X, A, B, C, D):
    scores = X @ (A @ B.T / X.dtype.type(A.shape[1] ** 0.5)) @ X.T
    w = np.exp(scores - scores.max(1)[:, None])
    return (w / w.sum(1)[:, None]) @ X @ C @ D
