import numpy as np


def cross_entropy(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    if len(rows) == 0:
        return logits.dtype.type(0), logits.dtype.type(1)
    loss = (np.log(np.exp(rows).sum(axis=1)) - rows[np.arange(len(rows)), right]).mean()
    return loss, np.exp(loss)


def cross_entropy_probabilities(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    if len(rows) == 0:
        return logits.dtype.type(0), logits.dtype.type(1)
    e = np.exp(rows)
    loss = -np.log((e / e.sum(axis=1, keepdims=True))[np.arange(len(rows)), right]).mean()
    return loss, np.exp(loss)
