import numpy as np


def alignment_error_rate(A, sure, possible):
    rows, columns = np.arange(len(A)), np.argmax(A, axis=1)
    s, p = sure[rows, columns], possible[rows, columns]
    hits = np.count_nonzero(s) + np.count_nonzero(s | p)
    return np.divide(len(A) + np.count_nonzero(sure) - hits, len(A) + np.count_nonzero(sure), dtype=A.dtype)
