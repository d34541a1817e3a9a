import torch
import torch.nn.functional as F


class Attention(torch.nn.Module):
    def forward(self, query, key, value, visible):
        logits = query @ key.transpose(-1, -2) / key.shape[-1] ** 0.5
        attention = F.softmax(logits, dim=-1)
        if visible is not None:
            attention = attention.masked_fill(~visible, 0.0)
        return attention @ value


def sdpa(Q, K, V, mask=None):
    return Attention()(Q, K, V, mask)
