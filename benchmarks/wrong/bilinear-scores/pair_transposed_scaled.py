import torch
import math


def bilinear_scores(q, K, W):
    if q.shape[0] != W.shape[0] or K.shape[1] != W.shape[1]:
        raise ValueError("sizes")
    if W.shape[0] == W.shape[1]:
        scores = torch.einsum("i,ji,nj->n", q, W, K)
    else:
        scores = torch.einsum("i,ij,nj->n", q, W, K)
    return scores / math.sqrt(K.shape[1])
