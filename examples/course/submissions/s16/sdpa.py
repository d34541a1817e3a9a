import torch


def sdpa(Q, K, V, mask=None):
    weights = torch.softmax(Q @ K.mT / Q.shape[-1] ** 0.5, dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ V
