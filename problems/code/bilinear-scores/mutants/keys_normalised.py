import numpy as np


def bilinear_scores(q, K, W):
    return K / np.sqrt((K**2).sum(axis=1, keepdims=True)) @ (W.T @ q)


def bilinear_scores_both(q, K, W):
    return K / np.sqrt((K**2).sum(axis=1, keepdims=True)) @ (W.T @ q) / np.sqrt((q**2).sum())


def bilinear_scores_projected(q, K, W):
    p = W.T @ q
    return K @ p / np.sqrt((K**2).sum(axis=1)) / np.sqrt((p**2).sum())
