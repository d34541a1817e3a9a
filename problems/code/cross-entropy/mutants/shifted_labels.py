import numpy as np


def cross_entropy(logits, labels, pad):
    logits, labels = logits[..., :-1, :], labels[..., 1:]
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    if len(rows) == 0:
        return logits.dtype.type(0), logits.dtype.type(1)
    top = rows.max(axis=1, keepdims=True)
    log_sum = top[:, 0] + np.log(np.exp(rows - top).sum(axis=1))
    loss = (log_sum - rows[np.arange(len(rows)), right]).mean()
    return loss, np.exp(loss)
