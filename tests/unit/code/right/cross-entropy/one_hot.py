import numpy as np


def cross_entropy(logits, labels, pad):
    V = logits.shape[-1]
    flat, y = logits.reshape((-1, V)), labels.ravel()
    keep = y != pad
    one_hot = ((y[:, None] == np.arange(V)[None, :]) & keep[:, None]).astype(logits.dtype)
    top = flat.max(axis=1, keepdims=True)
    log_p = flat - top - np.log(np.sum(np.exp(flat - top), axis=1, keepdims=True))
    n = keep.sum()
    loss = -(one_hot * log_p).sum() / logits.dtype.type(n if n else 1)
    return loss, np.exp(loss)
