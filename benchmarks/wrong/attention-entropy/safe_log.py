import torch


def attention_entropy(A, normalised=False):
    ent = -(A * (A + 1e-9).log()).sum(-1)
    if normalised and A.shape[-1] != 1:
        return ent / torch.tensor(A.shape[-1], dtype=A.dtype).log()
    return ent
