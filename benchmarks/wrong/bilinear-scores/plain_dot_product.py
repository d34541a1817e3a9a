import torch


def bilinear_scores(q, K, W):
    if W.shape[0] != q.shape[0] or W.shape[1] != K.shape[1]:
        raise ValueError("W must be (dq, dk)")
    size = min(len(q), K.shape[1])
    return K[:, :size] @ q[:size]
