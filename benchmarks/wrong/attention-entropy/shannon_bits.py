import torch


def attention_entropy(A, normalised=False):
    p = A.clamp(min=torch.finfo(A.dtype).tiny)
    bits = -(A * torch.log2(p)).sum(dim=-1)
    if normalised and A.shape[-1] > 1:
        bits = bits / torch.log2(torch.tensor(float(A.shape[-1]), dtype=A.dtype))
    return bits
