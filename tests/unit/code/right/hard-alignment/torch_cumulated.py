import torch


def hard_alignment(A):
    largest = torch.eq(A, A.amax(1, keepdim=True))
    first = torch.logical_and(largest, largest.long().cumsum(1) == 1)
    return torch.where(first, torch.ones_like(A), torch.zeros_like(A))
