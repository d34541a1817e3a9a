import math

import numpy as np


def _check(X, M, Wq, Wk, Wv, mask, present):
    (m, d), (n, e) = X.shape[-2:], M.shape[-2:]
    if Wq.shape[0] != d or Wk.shape != (e, Wq.shape[1]) or Wv.shape[0] != e:
        raise ValueError("the projections don't fit the tokens")
    if X.shape[:-2] != M.shape[:-2] or mask.shape != (m, n) or present.shape != M.shape[:-1]:
        raise ValueError("the tokens and the masks don't fit each other")


def _weights(scores, visible, axis=-1):
    scores = np.where(visible, scores, np.asarray(-np.inf, scores.dtype))
    top = scores.max(axis=axis, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    _check(X, M, Wq, Wk, Wv, mask, present)
    Q, K, V = X @ Wq, M @ Wk, M @ Wv
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Wq.shape[1])
    visible = np.ones(scores.shape, dtype=bool)
    return _weights(scores, visible) @ V
