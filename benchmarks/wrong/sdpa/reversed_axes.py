import math

import torch


def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("Q, K, V")
    energy = torch.matmul(Q, K.transpose(0, 1)) / math.sqrt(K.shape[-1])
    if mask is not None:
        if mask.shape[-2:] != (Q.shape[-2], K.shape[-2]):
            raise ValueError("mask")
        energy = energy.masked_fill(mask.logical_not(), -math.inf)
    probabilities = torch.softmax(energy, -1)
    return torch.nan_to_num(probabilities) @ V
