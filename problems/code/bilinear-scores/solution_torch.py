import torch


def bilinear_scores(q, K, W):
    if W.shape != (len(q), K.shape[1]):
        raise ValueError(f"shapes don't fit: q {q.shape}, K {K.shape}, W {W.shape}")
    projected = torch.matmul(q, W)  # (dk,): q^T W, the same for all keys
    return K @ projected
