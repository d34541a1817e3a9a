import numpy as np


def alignment_error_rate(A, sure, possible):
    """Counts what is missing: links that nobody accepts, and sure links that weren't drawn."""
    best = [row.index(max(row)) for row in A.tolist()]
    wrong = sum(not (sure[i, j] or possible[i, j]) for i, j in enumerate(best))
    missed = int(sure.sum()) - sum(bool(sure[i, j]) for i, j in enumerate(best))
    return np.float64((wrong + missed) / (len(best) + int(sure.sum()))).astype(A.dtype)
