import torch


def sdpa(Q, K, V, mask=None):
    d = Q.shape[-1]
    if K.shape[-1] != d:
        raise ValueError("Q and K need the same last axis")
    logits = torch.einsum("...id,...jd->...ij", Q, K) / d**0.5
    if mask is not None:
        logits = logits.masked_fill(mask.logical_not(), -torch.inf)
    w = torch.softmax(logits, -1)
    w = torch.where(torch.isnan(w), 0.0, w)
    return w @ V
