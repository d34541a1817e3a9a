import numpy as np


def alignment_error_rate(A, sure, possible):
    links = np.arange(A.shape[1]) == A.argmax(axis=1)[:, None]
    hits = (links & sure).sum() + (links & possible).sum()
    return A.dtype.type(1 - hits / (links.sum() + sure.sum()))
