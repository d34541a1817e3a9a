import numpy as np


def sdpa(Q, K, V, mask=None):
    assert Q.shape[-1] == K.shape[-1], "Q and K"
    assert K.shape[-2] == V.shape[-2], "K and V"
    logits = np.einsum("...md,...nd->...mn", Q, K) / Q.shape[-1] ** 0.5
    if mask is not None:
        assert mask.shape[-2:] == logits.shape[-2:], "mask"
        logits = np.where(mask, logits, np.array(-np.inf, logits.dtype))
    m = logits.max(-1, keepdims=True)
    m[~np.isfinite(m)] = 0
    p = np.exp(logits - m)
    z = p.sum(-1, keepdims=True)
    z[z == 0] = 1
    return np.einsum("...mn,...nv->...mv", p / z, V)
