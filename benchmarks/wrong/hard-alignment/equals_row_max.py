import torch


def hard_alignment(A):
    row_max = A.max(dim=1, keepdim=True).values
    return (A == row_max).to(A.dtype)
