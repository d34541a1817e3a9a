import numpy as np


def cross_entropy(logits, labels, pad):
    top = logits.max(axis=-2, keepdims=True)
    logs = logits - top - np.log(np.exp(logits - top).sum(axis=-2, keepdims=True))
    counts = labels != pad
    rows, right = logs[counts], labels[counts]
    if len(rows) == 0:
        return logits.dtype.type(0), logits.dtype.type(1)
    loss = -rows[np.arange(len(rows)), right].mean()
    return loss, np.exp(loss)


def cross_entropy_counted(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    if len(rows) == 0:
        return logits.dtype.type(0), logits.dtype.type(1)
    top = rows.max(axis=0, keepdims=True)
    logs = rows - top - np.log(np.exp(rows - top).sum(axis=0, keepdims=True))
    loss = -logs[np.arange(len(rows)), right].mean()
    return loss, np.exp(loss)
