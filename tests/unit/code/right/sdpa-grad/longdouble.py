import numpy as np


def sdpa_grad(Q, K, V, G):
    q, k, v, g = [np.asarray(A, dtype=np.longdouble) for A in (Q, K, V, G)]
    if g.shape[0] != q.shape[0] or g.shape[1] != v.shape[1] or len(k) != len(v):
        raise ValueError("sizes")
    root = np.sqrt(np.longdouble(q.shape[1]))
    p = np.dot(q, k.T) / root
    p = np.exp(p - np.max(p, axis=1)[:, None])
    p = p / np.sum(p, axis=1)[:, None]
    t = p * np.dot(g, v.T)
    t = (t - p * np.sum(t, axis=1)[:, None]) / root
    return tuple(x.astype(Q.dtype) for x in (np.dot(t, k), np.dot(t.T, q), np.dot(p.T, g)))
