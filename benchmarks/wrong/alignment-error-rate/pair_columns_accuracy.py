import numpy as np


def alignment_error_rate(A, sure, possible):
    rows = A.argmax(axis=0)
    columns = np.arange(A.shape[1])
    s = sure[rows, columns].sum()
    p = (sure | possible)[rows, columns].sum()
    return A.dtype.type((s + p) / (A.shape[1] + sure.sum()))
