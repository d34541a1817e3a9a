import math

import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    dm = Wq.shape[1]
    if h < 1 or dm % h:
        raise ValueError(f"{h} heads can't share {dm} columns")
    heads = []
    for columns in np.split(np.arange(dm), h):
        Q, K, V = (X @ W[:, columns] for W in (Wq, Wk, Wv))
        scores = Q @ K.T / math.sqrt(dm // h)
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        heads.append(e / e.sum(axis=-1) @ V)
    return np.concatenate(heads, axis=1) @ Wo
