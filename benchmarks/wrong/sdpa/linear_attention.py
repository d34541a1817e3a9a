import torch


def sdpa(Q, K, V, mask=None):
    A = Q @ K.transpose(-1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        A = A * mask
    return A @ V
