import torch


def alignment_error_rate(A, sure, possible):
    p = (sure | possible).to(A.dtype)
    s = sure.to(A.dtype)
    return 1 - ((A * s).sum() + (A * p).sum()) / (A.sum() + s.sum())
