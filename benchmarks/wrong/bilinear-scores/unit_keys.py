import torch
import torch.nn.functional as F


def bilinear_scores(q, K, W):
    K = F.normalize(K, dim=-1)
    return (q @ W @ K.T).reshape(-1)
