import numpy as np
import numpy.ma as ma


def sdpa(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / Q.dtype.type(np.sqrt(Q.shape[-1]))
    hidden = np.zeros(scores.shape, bool) if mask is None else np.broadcast_to(~mask, scores.shape)
    seen = ma.array(scores, mask=hidden)
    e = ma.exp(seen - seen.max(axis=-1, keepdims=True))
    total = e.sum(axis=-1, keepdims=True)
    w = (e / total).filled(0).astype(Q.dtype)
    return w @ V
