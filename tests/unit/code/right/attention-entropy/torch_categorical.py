import torch


def attention_entropy(A, normalised=False):
    H = -torch.xlogy(A, A).sum(-1)
    if normalised and A.size(-1) > 1:
        H = H / torch.log(torch.tensor(float(A.size(-1)), dtype=A.dtype))
    return H
