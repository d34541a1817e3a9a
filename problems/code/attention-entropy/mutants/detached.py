import math

import torch


def _divided(H, A, normalised):
    n = A.shape[-1]
    return H / math.log(n) if normalised and n > 1 else H


def attention_entropy(A, normalised=False):
    logs = torch.log(torch.where(A > 0, A, 1.0)).detach()
    return _divided(-(A * logs).sum(dim=-1), A, normalised)


def attention_entropy_weights(A, normalised=False):
    logs = torch.log(torch.where(A > 0, A, 1.0))
    return _divided(-(A.detach() * logs).sum(dim=-1), A, normalised)
