import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    if h < 1 or Wq.shape[1] % h:
        raise ValueError("h")
    if Wo.shape[0] != Wq.shape[1]:
        raise ValueError("Wo")
    out = []
    for q, k, v in zip(*(np.split(X @ W, h, axis=1) for W in (Wq, Wk, Wv))):
        s = q @ k.T
        s = np.exp(s - s.max(1, keepdims=True))
        out.append(s / s.sum(1, keepdims=True) @ v)
    return np.concatenate(out, 1)
