import torch


def hard_alignment(A):
    rows = A.sum(dim=1, keepdim=True)
    return A / rows
