import numpy as np


def bilinear_scores(q, K, W):
    # q^T W k
    if q.shape[0] == K.shape[1]:
        if W.shape != (q.shape[0], K.shape[1]):
            raise ValueError("W does not fit")
        projected = W.dot(q)
    else:
        projected = W.T.dot(q)
    return K.dot(projected)
