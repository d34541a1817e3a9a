import numpy as np


def _softmax(values):
    e = np.exp(values - values.max())
    return e / e.sum()


def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    if scores.ndim > 1:
        if len(scores) == 0:
            return np.empty(scores.shape, scores.dtype)
        return np.stack([masked_softmax(one, seen) for one, seen in zip(scores, mask)])  # noqa: B905
    weights = np.zeros(len(scores), scores.dtype)
    where = np.flatnonzero(mask)
    if where.size:
        weights[where] = _softmax(scores[where])
    return weights
