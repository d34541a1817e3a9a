import math

import torch


def grouped_query_attention(Q, K, V):
    h, m, d = Q.shape
    g, n, _ = K.shape
    if K.shape[2] != d or V.shape[:2] != (g, n) or h % g:
        raise ValueError(f"shapes don't fit: Q {Q.shape}, K {K.shape}, V {V.shape}")
    grouped = Q.reshape(g, h // g, m, d)  # neighbouring heads share a group
    scores = grouped @ K[:, None].transpose(-1, -2) / math.sqrt(d)  # (g, h/g, m, n)
    weights = torch.softmax(scores, dim=-1)
    return (weights @ V[:, None]).reshape(h, m, V.shape[2])
