import numpy as np
import numpy.ma as ma


def self_attention(X, Wq, Wk, Wv, causal=False):
    Q, K, V = X.dot(Wq), X.dot(Wk), X.dot(Wv)
    E = ma.array(Q.dot(K.T) / Q.dtype.type(Q.shape[1] ** 0.5))
    if causal:
        i, j = np.indices(E.shape)
        E[j > i] = ma.masked
    A = ma.exp(E - E.max(axis=1)[:, None])
    A = A / A.sum(axis=1)[:, None]
    return A.filled(0).astype(X.dtype).dot(V)
