import numpy as np


def right(scores, mask):
    visible = np.broadcast_to(mask, scores.shape)  # ValueError if it doesn't fit
    scores = np.where(visible, scores, np.asarray(-np.inf, scores.dtype))
    top = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isfinite(top), top, 0))  # hidden: exp(-inf) = 0
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)  # a row that sees nothing stays 0


def masked_softmax(scores, mask):
    try:
        return right(scores, mask)
    except ValueError as error:
        raise AssertionError(str(error)) from None
