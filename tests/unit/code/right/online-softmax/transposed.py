import numpy as np


def online_softmax(m, l, o, x, V):
    x = x.T
    largest = np.maximum(x.max(axis=0), m)
    weights = np.exp(x - largest)
    correction = np.where(np.isneginf(m), 0, np.exp(m - largest)).astype(V.dtype)
    l = np.add(correction * l, weights.sum(axis=0))
    o = np.add(correction * o.T, V.T @ weights).T
    return [largest, l, o]
