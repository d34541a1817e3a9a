import numpy as np


def sdpa(Q, K, V, mask=None):
    def normalise(s):
        top = s.max(axis=-1, keepdims=True)
        top = np.where(np.isneginf(top), 0, top)
        e = np.exp(s - top)
        z = e.sum(axis=-1, keepdims=True)
        return e / np.where(z > 0, z, 1)

    if K.shape[-2] != V.shape[-2]:
        raise ValueError("as many values as keys, please")
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    return normalise(scores) @ K
