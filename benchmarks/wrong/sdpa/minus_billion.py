import torch
from torch import nn


def sdpa(Q, K, V, mask=None):
    scores = torch.bmm if Q.dim() == 3 and K.dim() == 3 else torch.matmul
    energy = scores(Q, K.transpose(-1, -2)) / (K.size(-1) ** 0.5)
    if mask is not None:
        fill = -6e4 if energy.dtype == torch.float16 else -1e9
        energy = energy.masked_fill(mask == 0, fill)
    return nn.Softmax(dim=-1)(energy) @ V
