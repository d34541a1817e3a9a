import torch


def alignment_error_rate(A, sure, possible):
    links = A == A.amax(dim=1, keepdim=True)
    p = sure | possible
    top = (links & sure).sum() + (links & p).sum()
    return 1 - top.to(A.dtype) / (links.sum() + sure.sum())
