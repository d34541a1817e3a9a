import numpy as np


def attention_entropy(A, normalised=False):
    logA = np.log(A, out=np.zeros_like(A), where=A > 0)
    return -np.einsum("...i,...i->...", A, logA)
