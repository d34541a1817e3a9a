import math

import torch


def attention_entropy(A, normalised=False):
    safe = torch.where(A > 0, A, torch.ones_like(A))
    H = torch.sum(torch.where(A > 0, -A * safe.log(), torch.zeros_like(A)), dim=-1)
    return H.div(math.log(A.shape[-1])) if normalised and A.shape[-1] > 1 else H
