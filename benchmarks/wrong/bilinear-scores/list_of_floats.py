import numpy as np


def bilinear_scores(q, K, W):
    scores = []
    for k in K:
        scores.append(float(q.dot(W).dot(k)))
    return np.array(scores)
