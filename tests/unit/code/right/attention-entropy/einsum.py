import numpy as np


def attention_entropy(A, normalised=False):
    tiny = np.finfo(A.dtype).tiny
    surprise = -np.log(np.maximum(A, tiny))
    H = np.einsum("...n,...n->...", A, surprise)
    if normalised:
        H = H / max(float(np.log(A.shape[-1])), 1e-3)
    return H
