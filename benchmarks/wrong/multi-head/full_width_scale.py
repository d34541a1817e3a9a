import torch
from torch import nn


class MultiHead(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if num_heads < 1 or d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.d_model = d_model
        self.num_heads = num_heads

    def heads(self, x):
        return x.reshape(x.shape[0], self.num_heads, -1).transpose(0, 1)

    def forward(self, q, k, v, wo):
        q, k, v = self.heads(q), self.heads(k), self.heads(v)
        logits = q @ k.transpose(-1, -2) / self.d_model**0.5
        out = logits.softmax(-1) @ v
        return out.transpose(0, 1).reshape(q.shape[1], self.d_model) @ wo


def multi_head(X, Wq, Wk, Wv, Wo, h):
    return MultiHead(Wq.shape[1], h)(X @ Wq, X @ Wk, X @ Wv, Wo)
