import torch
from torch import nn


class BahdanauEnergy(nn.Module):
    def forward(self, query, values, W1, W2, v):
        if v.shape[0] != W1.shape[0]:
            raise ValueError("v")
        return torch.tanh(query.unsqueeze(0) @ W1.t() + values @ W2.t())


def additive_scores(s, H, W, U, v):
    return BahdanauEnergy()(s, H, W, U, v)
