import numpy as np


def kv_cache(x, K, V, Wq, Wk, Wv):
    d = x.shape[0]
    if Wq.shape[0] != d or Wk.shape[0] != d or Wv.shape[0] != d or K.shape[0] != V.shape[0]:
        raise ValueError("sizes")
    if Wq.shape[1] != K.shape[1] or Wk.shape[1] != K.shape[1] or Wv.shape[1] != V.shape[1]:
        raise ValueError("sizes")
    keys, values = list(K), list(V)
    keys.insert(0, x @ Wk)
    values.insert(0, x @ Wv)
    keys, values = np.stack(keys), np.stack(values)
    e = keys @ (x @ Wq) / float(K.shape[1]) ** 0.5
    e = np.exp(e - e.max())
    return (e / e.sum()) @ values, keys, values
