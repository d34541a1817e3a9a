import numpy as np


def bilinear_scores(q, K, W):
    scores = np.empty(len(K), dtype=K.dtype)
    projected_query = np.tanh(q @ W)
    for j in range(len(K)):
        scores[j] = projected_query @ K[j]
    return scores
