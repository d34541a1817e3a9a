import numpy as np


def alignment_error_rate(A, sure, possible):
    i = np.arange(A.shape[0])
    j = A.argmax(axis=-1)
    a_and_s = sure[i, j].sum()
    a_and_p = possible[i, j].sum()
    return np.asarray(1 - (a_and_s + a_and_p) / (len(i) + sure.sum()), dtype=A.dtype)
