import torch


def bilinear_scores(q, K, W):
    d_k = K.shape[-1]
    query = q @ W
    scores = torch.einsum("k,nk->n", query, K)
    return scores / d_k**0.5
