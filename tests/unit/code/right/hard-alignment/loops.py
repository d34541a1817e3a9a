import numpy as np


def hard_alignment(A):
    m, n = A.shape
    hard = np.zeros((m, n), dtype=A.dtype)
    for i in range(m):
        best = 0
        for j in range(1, n):
            if A[i, j] > A[i, best]:
                best = j
        hard[i, best] = 1
    return hard
