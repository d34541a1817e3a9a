import numpy as np


def alignment_error_rate(A, sure, possible):
    links = np.arange(A.shape[1]) == A.argmax(axis=1)[:, None]
    possible |= sure
    hits = (links & sure).sum() + (links & possible).sum()
    return A.dtype.type(1 - hits / (links.sum() + sure.sum()))


def alignment_error_rate_links(A, sure, possible):
    links = np.arange(A.shape[1]) == A.argmax(axis=1)[:, None]
    A[...] = links
    hits = (links & sure).sum() + (links & (sure | possible)).sum()
    return A.dtype.type(1 - hits / (links.sum() + sure.sum()))
