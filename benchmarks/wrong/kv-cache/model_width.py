import numpy as np


def kv_cache(x, K, V, Wq, Wk, Wv):
    d = x.shape[0]
    if Wq.shape[0] != d or Wk.shape[0] != d or Wv.shape[0] != d or K.shape[0] != V.shape[0]:
        raise ValueError("sizes")
    if Wq.shape[1] != K.shape[1] or Wk.shape[1] != K.shape[1] or Wv.shape[1] != V.shape[1]:
        raise ValueError("sizes")
    K, V = np.append(K, [x @ Wk], axis=0), np.append(V, [x @ Wv], axis=0)
    scores = np.einsum("k,tk->t", x @ Wq, K) * float(d) ** -0.5
    scores = np.exp(scores - np.max(scores))
    return np.einsum("t,tv->v", scores / np.sum(scores), V), K, V
