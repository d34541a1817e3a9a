import torch


def sdpa(Q, K, V, mask=None):
    attn_scores = torch.einsum("...qd,...kd->...qk", Q, K)
    if mask is not None:
        attn_scores = attn_scores.masked_fill(~mask, torch.finfo(attn_scores.dtype).min)
    attn = torch.softmax(attn_scores, dim=-1)
    if mask is not None:
        attn = attn * mask  # rows that see nothing
    return attn @ V
