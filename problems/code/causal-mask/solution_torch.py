import torch


def causal_mask(n):
    if n < 0:
        raise ValueError(f"n is {n}")
    place = torch.arange(n)
    return place[None, :] <= place[:, None]
