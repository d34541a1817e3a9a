import numpy as np


def alignment_error_rate(A, sure, possible):
    P = sure | possible
    hard = np.eye(A.shape[1], dtype=bool)[A.argmax(1)]
    return A.dtype.type(1 - (np.sum(hard & sure) + np.sum(hard & P)) / (np.sum(hard) + np.sum(P)))
