import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def sample_tokens(logits, u, temperature=1.0, top_k=None, top_p=None):
    if temperature <= 0:
        raise ValueError(temperature)
    z = logits.astype(np.float64) / temperature
    if top_k is not None:
        if top_k < 1:
            raise ValueError(top_k)
        rank = np.argsort(np.argsort(-z, kind="stable"), kind="stable")
        z = np.where(rank < top_k, z, -np.inf)
    if top_p is not None:
        if top_p > 1 or top_p <= 0:
            raise ValueError(top_p)
        p = softmax(z)
        order = np.argsort(-p, kind="stable")
        needed = int(np.searchsorted(np.cumsum(p[order]), top_p)) + 1
        z[order[needed:]] = -np.inf
    edges = np.cumsum(softmax(z))
    return np.minimum(np.searchsorted(edges, u, side="right"), np.flatnonzero(z > -np.inf)[-1])
