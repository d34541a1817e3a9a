import numpy as np


def concat_scores(q, K, W1, w2):
    e = []
    for k in K:
        e.append(w2 @ np.tanh(W1 @ np.concatenate([q, k])))
    return np.array(e)
