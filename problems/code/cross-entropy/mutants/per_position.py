import numpy as np


def cross_entropy(logits, labels, pad):
    counts = labels != pad
    top = logits.max(axis=-1, keepdims=True)
    logs = logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))
    right = np.where(counts, labels, 0)[..., None]
    losses = -np.where(counts, np.take_along_axis(logs, right, -1)[..., 0], 0).astype(logits.dtype)
    return losses, np.exp(losses)


def cross_entropy_counted(logits, labels, pad):
    losses, _ = cross_entropy(logits, labels, pad)
    losses = losses[labels != pad]
    return losses, np.exp(losses)


def cross_entropy_rows(logits, labels, pad):
    losses, _ = cross_entropy(logits, labels, pad)
    means = losses.sum(axis=-1) / np.maximum((labels != pad).sum(axis=-1), 1).astype(logits.dtype)
    return (means, np.exp(means)) if labels.ndim > 1 else (losses, np.exp(losses))
