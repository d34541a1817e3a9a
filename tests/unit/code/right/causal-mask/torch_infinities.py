import torch
from torch import nn


def causal_mask(n):
    if n < 0:
        raise ValueError("size")
    if n == 0:
        return torch.empty(0, 0).bool()
    return nn.Transformer.generate_square_subsequent_mask(n) == 0
