import torch


def hard_alignment(A):
    values, columns = torch.max(A, dim=1, keepdim=True)
    return torch.zeros_like(A).scatter(1, columns, values)
