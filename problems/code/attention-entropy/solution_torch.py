import math

import torch


def attention_entropy(A, normalised=False):
    H = torch.special.entr(A).sum(dim=-1)  # -a log a, and 0 for a = 0
    n = A.shape[-1]
    return H / math.log(n) if normalised and n > 1 else H
