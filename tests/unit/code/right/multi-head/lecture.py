import numpy as np


def softmax(E):
    e = np.exp(E - E.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def multi_head(X, Wq, Wk, Wv, Wo, h):
    d, dm = Wq.shape
    if h < 1 or dm % h != 0:
        raise ValueError("h must divide the model dimension")
    if Wk.shape != (d, dm) or Wv.shape != (d, dm) or Wo.shape[0] != dm:
        raise ValueError("the matrices don't fit together")
    dh = dm // h
    heads = []
    for i in range(h):
        columns = slice(i * dh, (i + 1) * dh)
        Q, K, V = X @ Wq[:, columns], X @ Wk[:, columns], X @ Wv[:, columns]
        heads.append(softmax(Q @ K.T / np.sqrt(dh).astype(X.dtype)) @ V)
    return np.concatenate(heads, axis=1) @ Wo
