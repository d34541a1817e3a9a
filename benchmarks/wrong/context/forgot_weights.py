import torch


def context(weights, H):
    assert_fits = weights.shape[-1] == H.shape[0]
    if not assert_fits:
        raise ValueError("shapes")
    ones = torch.ones_like(weights)
    return ones @ H
