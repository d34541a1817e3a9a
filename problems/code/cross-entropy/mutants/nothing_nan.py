import numpy as np


def cross_entropy(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    top = rows.max(axis=1, keepdims=True)
    log_sum = top[:, 0] + np.log(np.exp(rows - top).sum(axis=1))
    loss = (log_sum - rows[np.arange(len(rows)), right]).sum() / logits.dtype.type(len(rows))
    return loss, np.exp(loss)


def cross_entropy_zeros(logits, labels, pad):
    loss, perplexity = cross_entropy(logits, labels, pad)
    return (loss, perplexity) if (labels != pad).any() else (logits.dtype.type(0), logits.dtype.type(0))
