import numpy as np


def cross_entropy(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    if len(rows) == 0:
        return logits.dtype.type(0), logits.dtype.type(1)
    loss = -rows[np.arange(len(rows)), right].mean()
    return loss, np.exp(loss)


def cross_entropy_log(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    if len(rows) == 0:
        return logits.dtype.type(0), logits.dtype.type(1)
    loss = -np.log(rows[np.arange(len(rows)), right]).mean()
    return loss, np.exp(loss)
