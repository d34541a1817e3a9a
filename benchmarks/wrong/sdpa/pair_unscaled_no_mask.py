import numpy as np


def sdpa(Q, K, V, mask=None):
    similarity = np.matmul(Q, np.swapaxes(K, -1, -2))
    similarity = similarity - similarity.max(axis=-1, keepdims=True)
    similarity = np.exp(similarity)
    similarity = similarity / similarity.sum(axis=-1, keepdims=True)
    return np.matmul(similarity, V)
