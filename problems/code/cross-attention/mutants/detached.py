import math

import torch


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    (m, d), (n, e) = X.shape[-2:], M.shape[-2:]
    if Wq.shape[0] != d or Wk.shape != (e, Wq.shape[1]) or Wv.shape[0] != e:
        raise ValueError("the projections don't fit the tokens")
    if X.shape[:-2] != M.shape[:-2] or mask.shape != (m, n) or present.shape != M.shape[:-1]:
        raise ValueError("the tokens and the masks don't fit each other")
    Q, K, V = X @ Wq, M @ Wk, M @ Wv
    visible = mask & present[..., None, :]
    weights = torch.softmax((Q @ K.mT / math.sqrt(Wq.shape[1])).masked_fill(~visible, -math.inf), dim=-1)
    return weights.masked_fill(~visible, 0.0).detach() @ V


def cross_attention_1(X, M, Wq, Wk, Wv, mask, present):
    (m, d), (n, e) = X.shape[-2:], M.shape[-2:]
    if Wq.shape[0] != d or Wk.shape != (e, Wq.shape[1]) or Wv.shape[0] != e:
        raise ValueError("the projections don't fit the tokens")
    if X.shape[:-2] != M.shape[:-2] or mask.shape != (m, n) or present.shape != M.shape[:-1]:
        raise ValueError("the tokens and the masks don't fit each other")
    Q, K, V = X @ Wq, M @ Wk, M @ Wv
    visible = mask & present[..., None, :]
    weights = torch.softmax((Q @ K.mT / math.sqrt(Wq.shape[1])).masked_fill(~visible, -math.inf), dim=-1)
    return weights.masked_fill(~visible, 0.0) @ V.detach()


def cross_attention_2(X, M, Wq, Wk, Wv, mask, present):
    (m, d), (n, e) = X.shape[-2:], M.shape[-2:]
    if Wq.shape[0] != d or Wk.shape != (e, Wq.shape[1]) or Wv.shape[0] != e:
        raise ValueError("the projections don't fit the tokens")
    if X.shape[:-2] != M.shape[:-2] or mask.shape != (m, n) or present.shape != M.shape[:-1]:
        raise ValueError("the tokens and the masks don't fit each other")
    Q, K, V = X @ Wq, (M @ Wk).detach(), M @ Wv
    visible = mask & present[..., None, :]
    weights = torch.softmax((Q @ K.mT / math.sqrt(Wq.shape[1])).masked_fill(~visible, -math.inf), dim=-1)
    return weights.masked_fill(~visible, 0.0) @ V
