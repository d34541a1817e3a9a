import numpy as np


def masked_softmax(scores, mask, eps=1e-8):
    seen = np.broadcast_to(mask, scores.shape)
    x = np.where(seen, scores, np.asarray(-np.inf, scores.dtype))
    top = x.max(axis=-1, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    return e / (e.sum(axis=-1, keepdims=True) + np.asarray(eps, scores.dtype))


def masked_softmax_1e7(scores, mask):
    return masked_softmax(scores, mask, 1e-7)


def masked_softmax_1e6(scores, mask):
    return masked_softmax(scores, mask, 1e-6)


def masked_softmax_1e5(scores, mask):
    return masked_softmax(scores, mask, 1e-5)


def masked_softmax_1e4(scores, mask):
    return masked_softmax(scores, mask, 1e-4)


def masked_softmax_1e3(scores, mask):
    return masked_softmax(scores, mask, 1e-3)


def masked_softmax_1e2(scores, mask):
    return masked_softmax(scores, mask, 1e-2)


def masked_softmax_1e1(scores, mask):
    return masked_softmax(scores, mask, 1e-1)
