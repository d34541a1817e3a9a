import numpy as np


def cross_entropy(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    top = rows.max(axis=1, keepdims=True)
    log_sum = top[:, 0] + np.log(np.exp(rows - top).sum(axis=1))
    loss = (log_sum - rows[np.arange(len(rows)), right]).sum()
    return loss, np.exp(loss)


def cross_entropy_mean_in_perplexity(logits, labels, pad):
    loss, _ = cross_entropy(logits, labels, pad)
    return loss, np.exp(loss / logits.dtype.type(max(1, (labels != pad).sum())))
