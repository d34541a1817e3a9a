import torch


def alignment_error_rate(A, sure, possible):
    links = torch.arange(A.shape[1]) == A.argmax(dim=1)[:, None]  # (m, n), one a row, the first of equals
    accepted = sure | possible
    hits = (links & sure).sum() + (links & accepted).sum()
    return 1 - hits.to(A.dtype) / (links.sum() + sure.sum())
