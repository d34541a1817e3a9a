from functools import partial

import numpy as np


def attend(q, keys, values):
    e = keys.dot(q) / np.sqrt(q.size)
    w = np.exp(e - max(e))
    return np.sum(values * (w / sum(w))[:, None], axis=0)


def multi_head(X, Wq, Wk, Wv, Wo, h):
    if h < 1 or Wq.shape[1] % h != 0 or Wq.shape != Wk.shape or Wk.shape != Wv.shape:
        raise ValueError("multi_head: bad arguments")
    cut = partial(np.array_split, indices_or_sections=h, axis=1)
    Q, K, V = cut(X.dot(Wq)), cut(X.dot(Wk)), cut(X.dot(Wv))
    out = [np.hstack([attend(Q[i][t], K[i], V[i]) for i in range(h)]).dot(Wo) for t in range(len(X))]
    return np.stack(out).astype(X.dtype)
