import numpy as np


def alignment_error_rate(A, sure, possible):
    links = np.arange(A.shape[1]) == A.argmax(axis=1)[:, None]
    precision = (links & (sure | possible)).sum() / links.sum()
    recall = (links & sure).sum() / sure.sum() if sure.any() else 1
    return A.dtype.type(1 - (precision + recall) / 2)


def alignment_error_rate_f1(A, sure, possible):
    links = np.arange(A.shape[1]) == A.argmax(axis=1)[:, None]
    precision = (links & (sure | possible)).sum() / links.sum()
    recall = (links & sure).sum() / sure.sum() if sure.any() else 1
    both = precision + recall
    return A.dtype.type(1 - (2 * precision * recall / both if both else 0))
