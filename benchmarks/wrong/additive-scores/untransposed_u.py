import numpy as np


def additive_scores(s, H, W, U, v):
    d_a, d_h = U.shape
    if d_h != H.shape[1]:
        raise ValueError("U and H")
    projected_states = H @ U if d_a == d_h else H @ U.T
    projected_query = W @ s
    scores = np.zeros(H.shape[0], dtype=H.dtype)
    for j, row in enumerate(projected_states):
        scores[j] = np.dot(v, np.tanh(projected_query + row))
    return scores
