import numpy as np


def cross_entropy(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    if len(rows) == 0:
        return logits.dtype.type(0), logits.dtype.type(1)
    e = np.exp(rows - rows.max(axis=1, keepdims=True))
    p = (e / e.sum(axis=1, keepdims=True))[np.arange(len(rows)), right]
    loss = -np.log(p).mean()
    return loss, np.exp(loss)
