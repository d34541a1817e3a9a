import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n = len(X)
    dm = Wq.shape[1]
    if h < 1 or dm % h > 0:
        raise ValueError("h does not divide dm")
    dk = dm // h
    Q, K, V = ((X @ W).reshape(h, n, dk) for W in (Wq, Wk, Wv))
    S = np.einsum("hid,hjd->hij", Q, K) / dk**0.5
    A = np.exp(S - S.max(-1, keepdims=True))
    A = A / A.sum(-1, keepdims=True)
    return np.einsum("hij,hjd->hid", A, V).reshape(n, dm) @ Wo
