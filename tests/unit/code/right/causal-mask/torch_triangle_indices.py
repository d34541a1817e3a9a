import torch


def causal_mask(n):
    if n < 0:
        raise ValueError(n)
    mask = torch.zeros((n, n), dtype=torch.bool)
    rows, columns = torch.tril_indices(n, n)
    mask[rows, columns] = True
    return mask
