import numpy as np


def additive_scores(s, H, W, U, v):
    if v.shape[0] != U.shape[0]:
        raise ValueError("v has the wrong size")
    act = np.tanh(np.einsum("as,s->a", W, s) + np.einsum("ah,nh->na", U, H))
    return act.sum(axis=-1)
