import math

import torch
from torch import nn


class GroupedAttention(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, q, k, v):
        outputs = []
        for heads, keys, values in zip(q.chunk(self.groups), k, v, strict=True):
            logits = torch.matmul(heads, keys.t()) / math.sqrt(keys.shape[1])
            outputs.append(torch.matmul(torch.softmax(logits, dim=-1), values))
        return torch.cat(outputs, dim=0)


def grouped_query_attention(Q, K, V):
    if Q.shape[0] % K.shape[0]:
        raise ValueError("heads don't divide into groups")
    return GroupedAttention(K.shape[0])(Q, K, V)
