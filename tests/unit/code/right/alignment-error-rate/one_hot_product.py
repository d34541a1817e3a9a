import numpy as np


def alignment_error_rate(A, sure, possible):
    hard = np.eye(A.shape[1], dtype=A.dtype)[A.argmax(axis=1)]
    S = sure.astype(A.dtype)
    P = np.maximum(S, possible.astype(A.dtype))
    return 1 - (np.vdot(hard, S) + np.vdot(hard, P)) / (hard.sum() + S.sum())
