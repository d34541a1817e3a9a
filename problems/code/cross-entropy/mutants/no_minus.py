import numpy as np


def cross_entropy(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    if len(rows) == 0:
        return logits.dtype.type(0), logits.dtype.type(1)
    top = rows.max(axis=1, keepdims=True)
    log_sum = top[:, 0] + np.log(np.exp(rows - top).sum(axis=1))
    loss = (rows[np.arange(len(rows)), right] - log_sum).mean()
    return loss, np.exp(-loss)


def cross_entropy_both(logits, labels, pad):
    loss, _ = cross_entropy(logits, labels, pad)
    return loss, np.exp(loss)
