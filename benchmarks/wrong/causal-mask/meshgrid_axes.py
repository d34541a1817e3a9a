import torch


def causal_mask(n):
    if n < 0:
        raise ValueError("n")
    key, query = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    return key <= query
