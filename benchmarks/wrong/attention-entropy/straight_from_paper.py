import torch


def attention_entropy(A, normalised=False):
    n = A.shape[-1]
    H = -torch.sum(A * torch.log(A), dim=-1)
    if normalised and n > 1:
        H = H / torch.log(torch.tensor(n, dtype=A.dtype))
    return H
