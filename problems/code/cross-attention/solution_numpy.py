import math

import numpy as np


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    m, d = X.shape[-2:]
    n, e = M.shape[-2:]
    if Wq.shape[0] != d or Wk.shape != (e, Wq.shape[1]) or Wv.shape[0] != e:
        raise ValueError("the projections don't fit the tokens")
    if X.shape[:-2] != M.shape[:-2] or mask.shape != (m, n) or present.shape != M.shape[:-1]:
        raise ValueError("the tokens and the masks don't fit each other")
    Q, K, V = X @ Wq, M @ Wk, M @ Wv
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Wq.shape[1])
    visible = mask & present[..., None, :]  # one row of `present` for all queries of its sentence
    scores = np.where(visible, scores, np.asarray(-np.inf, scores.dtype))
    top = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total) @ V  # a row that sees nothing stays 0
