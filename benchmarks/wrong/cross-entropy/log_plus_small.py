import numpy as np


def cross_entropy(logits, labels, pad):
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    P = e / e.sum(axis=-1, keepdims=True)
    loss, count = logits.dtype.type(0), 0
    for index in np.ndindex(*labels.shape):
        if labels[index] != pad:
            loss = loss - np.log(P[index][labels[index]] + 1e-9)
            count += 1
    loss = (loss / max(count, 1)).astype(logits.dtype)
    return loss, np.exp(loss)
