import torch
from torch import nn


class Step(nn.Module):
    def __init__(self, Wq, Wk, Wv):
        super().__init__()
        if Wq.shape != Wk.shape or Wk.shape[0] != Wv.shape[0]:
            raise ValueError("projections")
        self.Wq, self.Wk, self.Wv = Wq, Wk, Wv

    def forward(self, x, past):
        keys, values = past
        if keys.shape[0] != values.shape[0]:
            raise ValueError("past")
        keys = torch.vstack((keys, torch.matmul(x, self.Wk)))
        values = torch.vstack((values, torch.matmul(x, self.Wv)))
        scores = torch.mv(keys, torch.matmul(x, self.Wq)) * keys.size(1) ** -0.5
        return torch.mv(values.T, scores.softmax(0)), keys, values


def kv_cache(x, K, V, Wq, Wk, Wv):
    return Step(Wq, Wk, Wv)(x, (K, V))
