import torch


def attention_entropy(A, normalised=False):
    total = torch.xlogy(A, A).sum(dim=-1)
    if normalised and A.shape[-1] > 1:
        total = total / torch.log(torch.tensor(float(A.shape[-1]), dtype=A.dtype))
    return total
