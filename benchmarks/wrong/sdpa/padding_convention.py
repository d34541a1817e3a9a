import torch


def sdpa(Q, K, V, mask=None):
    d = Q.shape[-1]
    scores = torch.matmul(Q, K.transpose(-2, -1)) / d**0.5
    if mask is not None:
        # mask marks what must not be looked at
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    p = scores.softmax(dim=-1)
    if mask is not None:
        p = p.masked_fill(mask, 0)
    return torch.matmul(p, V)
