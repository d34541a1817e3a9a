import numpy as np


def masked_softmax(scores, mask):
    """Softmax over the visible positions only; rows without any are zeros."""
    visible = np.broadcast_to(mask, scores.shape)
    any_visible = visible.any(axis=-1, keepdims=True)

    # the shift only looks at what is visible, so hidden scores can't influence anything
    row_max = np.max(scores, axis=-1, keepdims=True, where=visible, initial=-np.inf)
    row_max = np.where(any_visible, row_max, 0).astype(scores.dtype)

    exponentials = np.zeros_like(scores)
    np.exp(scores - row_max, where=visible, out=exponentials)

    denominator = exponentials.sum(axis=-1, keepdims=True)
    weights = np.zeros_like(exponentials)
    np.divide(exponentials, denominator, out=weights, where=any_visible)
    return weights
