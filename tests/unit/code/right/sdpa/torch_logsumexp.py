import torch


def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError("Q and K")  # einsum would broadcast an axis of size 1
    scores = torch.einsum("...md,...nd->...mn", Q, K) / Q.shape[-1] ** 0.5
    if V.shape[-2] != scores.shape[-1]:
        raise ValueError("V")
    if mask is not None:
        if mask.shape[-2:] != scores.shape[-2:]:
            raise ValueError("mask")
        scores = torch.where(mask, scores, torch.full_like(scores, -torch.inf))
    total = torch.logsumexp(scores, -1, keepdim=True)
    weights = (scores - total).exp()
    weights = torch.where(torch.isneginf(total), torch.zeros_like(weights), weights)
    return torch.einsum("...mn,...nv->...mv", weights, V)
