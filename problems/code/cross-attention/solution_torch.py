import math

import torch


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    m, d = X.shape[-2:]
    n, e = M.shape[-2:]
    if Wq.shape[0] != d or Wk.shape != (e, Wq.shape[1]) or Wv.shape[0] != e:
        raise ValueError("the projections don't fit the tokens")
    if X.shape[:-2] != M.shape[:-2] or mask.shape != (m, n) or present.shape != M.shape[:-1]:
        raise ValueError("the tokens and the masks don't fit each other")
    Q, K, V = X @ Wq, M @ Wk, M @ Wv
    scores = Q @ K.mT / math.sqrt(Wq.shape[1])
    visible = mask & present[..., None, :]  # one row of `present` for all queries of its sentence
    weights = torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1)
    return weights.masked_fill(~visible, 0.0) @ V  # a row that sees nothing gets zeros, not NaN
