import numpy as np


def bilinear_scores(q, K, W):
    wq = q @ W
    K *= wq
    return K.sum(axis=1)
