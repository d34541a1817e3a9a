import torch


def alignment_error_rate(A, sure, possible):
    a = A > 0.5
    p = sure | possible
    bottom = max(int(a.sum() + sure.sum()), 1)
    return 1 - ((a & sure).sum() + (a & p).sum()).to(A.dtype) / bottom
