import numpy as np


def _weights(x, seen, axis=-1):
    x = np.where(seen, x, np.asarray(-np.inf, x.dtype))
    top = x.max(axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def masked_softmax(scores, mask):
    return _weights(
        scores, np.broadcast_to(np.swapaxes(mask, -1, -2) if mask.ndim > 1 else mask, scores.shape)
    )


def masked_softmax_column(scores, mask):
    return _weights(scores, np.broadcast_to(mask[:, None] if mask.ndim == 1 else mask, scores.shape))
