import numpy as np


def hard_alignment(A):
    H = np.zeros(A.shape, dtype=A.dtype)
    for i, row in enumerate(A):
        position = 0
        for j in range(len(row)):
            if row[j] >= row[position]:
                position = j
        H[i, position] = 1.0
    return H
