import torch


def attention_entropy(A, normalised=False):
    count = torch.exp(torch.special.entr(A).sum(-1))
    return count / A.shape[-1] if normalised and A.shape[-1] > 1 else count
