import numpy as np


def _check(Q, K, V, mask):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("shapes of Q, K and V don't fit")
    if mask is not None and mask.shape[-2:] != (Q.shape[-2], K.shape[-2]):
        raise ValueError("shape of the mask doesn't fit")


def _unshifted(scores, seen, axis=-1):
    e = np.exp(scores)
    if seen is not None:
        e = np.where(seen, e, np.asarray(0, e.dtype))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def sdpa(Q, K, V, mask=None):
    _check(Q, K, V, mask)
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = _unshifted(scores, mask)
    return weights @ V
