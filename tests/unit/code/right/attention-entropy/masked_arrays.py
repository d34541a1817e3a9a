import numpy as np
import numpy.ma as ma


def attention_entropy(A, normalised=False):
    with np.errstate(all="ignore"):
        terms = ma.masked_where(A == 0, A) * ma.log(ma.masked_where(A == 0, A))
    H = -np.sum(terms.filled(0), axis=-1)
    if normalised and A.shape[-1] > 1:
        H = H / float(np.log(A.shape[-1]))
    return H
