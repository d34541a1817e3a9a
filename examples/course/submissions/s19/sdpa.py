import torch


def sdpa(Q, K, V, mask=None):
    if Q.size(-1) != K.size(-1) or K.size(-2) != V.size(-2):
        raise ValueError("shapes don't match")
    scale = Q.size(-1) ** 0.5
    scores = Q @ K.transpose(-1, -2) / scale
    if mask is not None and mask.shape[-2:] != scores.shape[-2:]:
        raise ValueError("mask doesn't match")
    if mask is not None:
        # a large negative number for hidden keys, and zero afterwards for rows without any key
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask.any(dim=-1, keepdim=True)
    return weights @ V
