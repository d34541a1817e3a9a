import torch


def _fits(Q, K, V, mask):
    if Q.size(-1) != K.size(-1) or K.size(-2) != V.size(-2):
        raise ValueError("Q, K and V")
    if mask is not None and mask.shape[-2:] != (Q.size(-2), K.size(-2)):
        raise ValueError("mask")


def sdpa(Q, K, V, mask=None):
    _fits(Q, K, V, mask)
    scores = Q @ K.mT / Q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    attention = torch.softmax(scores, dim=-1).nan_to_num()
    return attention.to(torch.float32).to(V.dtype) @ V
