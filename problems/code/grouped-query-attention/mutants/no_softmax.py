import math

import numpy as np


def grouped_query_attention(Q, K, V):
    if K.shape[2] != Q.shape[2] or V.shape[:2] != K.shape[:2] or len(Q) % len(K):
        raise ValueError("shapes don't fit")
    K, V = (np.repeat(X, len(Q) // len(K), axis=0) for X in (K, V))
    return Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1]) @ V
