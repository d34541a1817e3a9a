import numpy as np


def concat_scores(q, K, W1, w2):
    scores = np.zeros(len(K), dtype=K.dtype)
    for j, key in enumerate(K):
        joined = np.concatenate((q, key))
        scores[j] = w2 @ (W1 @ joined)
    return scores
