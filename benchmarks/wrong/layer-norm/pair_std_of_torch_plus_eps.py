import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    # as in a well-known annotated implementation
    if gamma.shape != x.shape[-1:] or beta.shape != x.shape[-1:]:
        raise ValueError("features")
    if x.shape[-1] == 1:
        return 0 * x * gamma + beta
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return gamma * (x - mean) / (std + eps) + beta
