import math

import numpy as np


def kv_cache(x, K, V, Wq, Wk, Wv):
    (d,), dk, dv = x.shape, Wq.shape[1], Wv.shape[1]
    if Wq.shape != (d, dk) or Wk.shape != (d, dk) or Wv.shape != (d, dv):
        raise ValueError("the projections don't fit the token")
    if K.shape != (len(V), dk) or V.shape != (len(K), dv):
        raise ValueError("the cache doesn't fit the projections")
    query = x @ Wq
    K_new = np.concatenate([K, (x @ Wk)[None]])  # the token sees itself: append first
    V_new = np.concatenate([V, (x @ Wv)[None]])
    scores = K_new @ query / math.sqrt(dk)
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum() @ V_new, K_new, V_new
