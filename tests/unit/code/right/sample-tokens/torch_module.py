import torch
from torch import nn


class Temperature(nn.Module):
    def __init__(self, value):
        super().__init__()
        if value <= 0:
            raise ValueError("temperature")
        self.value = value

    def forward(self, logits):
        return torch.exp(torch.log_softmax(logits / self.value, dim=-1))


class TopK(nn.Module):
    def __init__(self, k):
        super().__init__()
        if k < 1:
            raise ValueError("k")
        self.k = k

    def forward(self, p):
        kept = torch.argsort(p, descending=True, stable=True)[: self.k]
        return torch.zeros_like(p).index_copy(0, kept, p[kept])


class TopP(nn.Module):
    def __init__(self, mass):
        super().__init__()
        if not 0 < mass <= 1:
            raise ValueError("mass")
        self.mass = mass

    def forward(self, p):
        order = torch.argsort(p, descending=True, stable=True)
        count = int((torch.cumsum(p[order], 0) / p.sum() < self.mass).sum()) + 1
        kept = order[:count]
        return torch.zeros_like(p).index_copy(0, kept, p[kept])


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    steps = [Temperature(temperature)]
    steps += [] if top_k is None else [TopK(top_k)]
    steps += [] if top_p is None else [TopP(top_p)]
    p = nn.Sequential(*steps)(logits)
    edges = torch.cumsum(p / p.sum(), 0)
    return [(edges <= number).sum() for number in u]
