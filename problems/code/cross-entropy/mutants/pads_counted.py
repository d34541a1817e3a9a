import numpy as np


def cross_entropy(logits, labels, pad):
    rows, right = logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)
    top = rows.max(axis=1, keepdims=True)
    log_sum = top[:, 0] + np.log(np.exp(rows - top).sum(axis=1))
    loss = (log_sum - rows[np.arange(len(rows)), right]).mean()
    return loss, np.exp(loss)


def cross_entropy_as_first(logits, labels, pad):
    return cross_entropy(logits, np.where(labels == pad, 0, labels), pad)
