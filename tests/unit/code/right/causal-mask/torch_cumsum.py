import torch


def causal_mask(n: int) -> torch.Tensor:
    if n < 0:
        raise ValueError("negative")
    ones = torch.eye(n)
    return ones.flip(1).cumsum(dim=1).flip(1) == 1
