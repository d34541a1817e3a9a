import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    if h < 1 or Wq.shape[1] % h:
        raise ValueError("h")
    Qs, Ks, Vs = (np.split(X @ W, h, axis=1) for W in (Wq, Wk, Wv))
    outs = []
    for i in range(h):
        s = Qs[0] @ Ks[0].T / Qs[0].shape[1] ** 0.5
        w = np.exp(s - np.max(s, axis=1, keepdims=True))
        w = w / np.sum(w, axis=1, keepdims=True)
        outs.append(w @ Vs[0])
    return np.concatenate(outs, axis=1) @ Wo
