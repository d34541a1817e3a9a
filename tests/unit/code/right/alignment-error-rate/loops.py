import numpy as np


def alignment_error_rate(A, sure, possible):
    sure_hits = possible_hits = sure_links = 0
    for i in range(A.shape[0]):
        best = 0
        for j in range(A.shape[1]):
            if A[i, j] > A[i, best]:
                best = j
            sure_links += int(sure[i, j])
        if sure[i, best]:
            sure_hits += 1
        if sure[i, best] or possible[i, best]:
            possible_hits += 1
    return np.array(1 - (sure_hits + possible_hits) / (A.shape[0] + sure_links), dtype=A.dtype)
