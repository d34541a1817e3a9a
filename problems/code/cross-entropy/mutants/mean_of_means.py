import numpy as np


def cross_entropy(logits, labels, pad):
    n, V = logits.shape[-2:]
    means = []
    for rows, right in zip(logits.reshape(-1, n, V), labels.reshape(-1, n), strict=True):
        rows, right = rows[right != pad], right[right != pad]
        if len(rows):
            top = rows.max(axis=1, keepdims=True)
            log_sum = top[:, 0] + np.log(np.exp(rows - top).sum(axis=1))
            means.append((log_sum - rows[np.arange(len(rows)), right]).mean())
    loss = np.mean(means, dtype=logits.dtype) if means else logits.dtype.type(0)
    return loss, np.exp(loss)


def cross_entropy_empty_counted(logits, labels, pad):
    n, V = logits.shape[-2:]
    means = []
    for rows, right in zip(logits.reshape(-1, n, V), labels.reshape(-1, n), strict=True):
        rows, right = rows[right != pad], right[right != pad]
        top = rows.max(axis=1, keepdims=True)
        log_sum = top[:, 0] + np.log(np.exp(rows - top).sum(axis=1))
        means.append((log_sum - rows[np.arange(len(rows)), right]).sum() / max(1, len(rows)))
    loss = np.mean(means).astype(logits.dtype)
    return loss, np.exp(loss)
