import numpy as np


def attention_entropy(A, normalised=False):
    mask = A > 0
    terms = np.zeros_like(A)
    terms[mask] = A[mask] * np.log(A[mask])
    H = -terms.sum(axis=-1)
    if normalised and A.shape[-1] > 1:
        H = H / float(np.log(A.shape[-1]))
    # average over the queries
    return np.mean(H)
