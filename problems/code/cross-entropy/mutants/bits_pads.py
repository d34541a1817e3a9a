import numpy as np


def cross_entropy(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    top = rows.max(axis=1, keepdims=True)
    log_sum = top[:, 0] + np.log(np.exp(rows - top).sum(axis=1))
    loss = (log_sum - rows[np.arange(len(rows)), right]).sum() / logits.dtype.type(max(1, labels.size))
    loss = loss / np.log(logits.dtype.type(2))
    return loss, np.exp2(loss)
