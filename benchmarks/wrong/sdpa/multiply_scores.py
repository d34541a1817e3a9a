import numpy as np


def sdpa(Q, K, V, mask=None):
    scale = float(Q.shape[-1]) ** 0.5
    scores = Q @ K.swapaxes(-1, -2) / scale
    if mask is not None:
        scores = scores * mask
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    attention = exps / exps.sum(-1, keepdims=True)
    if mask is not None:
        # nothing visible: zeros
        attention = attention * np.any(mask, axis=-1, keepdims=True)
    return attention @ V
