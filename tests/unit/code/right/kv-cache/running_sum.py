import numpy as np


def kv_cache(x, K, V, Wq, Wk, Wv):
    if x.shape != Wq.shape[:1] or Wk.shape != Wq.shape or Wv.shape[0] != x.shape[0]:
        raise ValueError("x and the matrices")
    if K.shape[1:] != Wk.shape[1:] or V.shape[1:] != Wv.shape[1:] or K.shape[0] != V.shape[0]:
        raise ValueError("the cache")
    q = x.dot(Wq) / x.dtype.type(np.sqrt(Wq.shape[1]))
    key, value = x.dot(Wk), x.dot(Wv)
    # start with the token itself, then one cached entry after the other
    top, total, mixed = q.dot(key), x.dtype.type(1), value
    for k, v in zip(K, V):
        score = q.dot(k)
        new = max(top, score)
        mixed = mixed * np.exp(top - new) + v * np.exp(score - new)
        total = total * np.exp(top - new) + np.exp(score - new)
        top = new
    return mixed / total, np.append(K, key[None], axis=0), np.append(V, value[None], axis=0)
