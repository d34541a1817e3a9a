import numpy as np


def cross_entropy(logits, labels, pad):
    logits -= logits.max(axis=-1, keepdims=True)
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    if len(rows) == 0:
        return logits.dtype.type(0), logits.dtype.type(1)
    loss = (np.log(np.exp(rows).sum(axis=1)) - rows[np.arange(len(rows)), right]).mean()
    return loss, np.exp(loss)


def cross_entropy_labels(logits, labels, pad):
    counts = labels != pad
    labels[~counts] = 0
    top = logits.max(axis=-1, keepdims=True)
    logs = logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))
    losses = -np.take_along_axis(logs, labels[..., None], -1)[..., 0]
    loss = (losses * counts.astype(logits.dtype)).sum() / logits.dtype.type(max(1, counts.sum()))
    return loss, np.exp(loss)
