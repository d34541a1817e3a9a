import numpy as np


def additive_scores(s, H, W, U, v):
    """tanh([W U] [s; h_j]) for every j at once: the columns of one matrix."""
    both = np.hstack([W, U])
    columns = np.vstack([np.repeat(s.reshape(-1, 1), H.shape[0], axis=1), H.T])
    if W.shape[1] != s.shape[0]:
        raise ValueError("W and s")
    return v @ np.tanh(both @ columns)
