import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, Wq, Wk, Wv):
        super().__init__()
        if Wq.shape[1] != Wk.shape[1] or Wk.shape[0] != Wv.shape[0]:
            raise ValueError("Wq, Wk, Wv")
        self.weights = (Wq, Wk, Wv)
        self.scale = 1 / math.sqrt(Wq.shape[1])

    def forward(self, X, M, seen):
        Wq, Wk, Wv = self.weights
        Q, K, V = torch.matmul(X, Wq), torch.matmul(M, Wk), torch.matmul(M, Wv)
        scores = torch.matmul(Q, K.transpose(-1, -2)) * self.scale
        bias = torch.zeros(seen.shape, dtype=scores.dtype).masked_fill(~seen, -math.inf)
        some = seen.any(-1, keepdim=True)
        return (scores + bias.where(some, torch.zeros_like(bias))).softmax(-1).mul(some) @ V


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    if X.shape[:-2] != M.shape[:-2] or X.shape[-1] != Wq.shape[0] or M.shape[-1] != Wk.shape[0]:
        raise ValueError("tokens")
    return CrossAttention(Wq, Wk, Wv)(X, M, mask.logical_and(present[..., None, :]))
