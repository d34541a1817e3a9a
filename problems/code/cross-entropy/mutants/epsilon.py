import numpy as np


def cross_entropy(logits, labels, pad, epsilon=1e-9):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    if len(rows) == 0:
        return logits.dtype.type(0), logits.dtype.type(1)
    e = np.exp(rows - rows.max(axis=1, keepdims=True))
    p = (e / e.sum(axis=1, keepdims=True))[np.arange(len(rows)), right]
    loss = -np.log(p + logits.dtype.type(epsilon)).mean()
    return loss, np.exp(loss)


def cross_entropy_1e12(logits, labels, pad):
    return cross_entropy(logits, labels, pad, 1e-12)


def cross_entropy_1e10(logits, labels, pad):
    return cross_entropy(logits, labels, pad, 1e-10)


def cross_entropy_1e8(logits, labels, pad):
    return cross_entropy(logits, labels, pad, 1e-8)


def cross_entropy_1e7(logits, labels, pad):
    return cross_entropy(logits, labels, pad, 1e-7)


def cross_entropy_1e6(logits, labels, pad):
    return cross_entropy(logits, labels, pad, 1e-6)


def cross_entropy_1e5(logits, labels, pad):
    return cross_entropy(logits, labels, pad, 1e-5)


def cross_entropy_clipped(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    if len(rows) == 0:
        return logits.dtype.type(0), logits.dtype.type(1)
    e = np.exp(rows - rows.max(axis=1, keepdims=True))
    p = (e / e.sum(axis=1, keepdims=True))[np.arange(len(rows)), right]
    loss = -np.log(np.clip(p, 1e-12, 1)).mean()
    return loss, np.exp(loss)
