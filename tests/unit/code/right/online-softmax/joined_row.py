import numpy as np


def online_softmax(m, l, o, x, V):
    """The old state is one more key with the score m, the weight l and the value o."""
    scores = np.concatenate([m[:, None], x], axis=1)
    top = scores.max(axis=1)
    e = np.exp(scores - top[:, None])
    total = e[:, 0] * l + e[:, 1:].sum(axis=1)
    output = e[:, :1] * o + np.einsum("qn,nv->qv", e[:, 1:], V)
    return top, total, output
