import numpy as np


def alignment_error_rate(A, sure, possible):
    a = {(i, int(j)) for i, j in enumerate(np.argmax(A, axis=1))}
    s = {(int(i), int(j)) for i, j in zip(*np.nonzero(sure), strict=True)}
    p = s | {(int(i), int(j)) for i, j in zip(*np.nonzero(possible), strict=True)}
    return A.dtype.type(1 - (len(a & s) + len(a & p)) / (len(a) + len(s)))
