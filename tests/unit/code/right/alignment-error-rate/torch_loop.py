import torch


def alignment_error_rate(A, sure, possible):
    hits = torch.zeros((), dtype=A.dtype)
    for row, s, p in zip(A, sure, possible, strict=True):
        best = int((row == row.max()).nonzero()[0])
        hits = hits + float(s[best]) + float(s[best] or p[best])
    return 1 - hits / (A.size(0) + int(sure.sum()))
