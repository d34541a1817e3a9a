import torch


def attention_entropy(A, normalised=False):
    H = torch.special.entr(A).sum(-1)
    return H / A.shape[-1] if normalised and A.shape[-1] > 1 else H
