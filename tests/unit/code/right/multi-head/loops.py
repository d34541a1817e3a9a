from math import exp, sqrt

import numpy as np


def product(A, B):
    columns = list(zip(*B, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in A]


def multi_head(X, Wq, Wk, Wv, Wo, h):
    dm = Wq.shape[1]
    if h < 1:
        raise ValueError("at least one head")
    if dm % h != 0:
        raise ValueError("heads of different sizes")
    if Wk.shape[1] != dm or Wv.shape[1] != dm:
        raise ValueError("Wq, Wk, Wv")
    Q, K, V = (product(X.tolist(), W.tolist()) for W in (Wq, Wk, Wv))
    size = dm // h
    joined = [[] for _ in Q]
    for head in range(h):
        start = head * size
        for i in range(len(Q)):
            scores = []
            for j in range(len(K)):
                score = 0.0
                for c in range(start, start + size):
                    score += Q[i][c] * K[j][c]
                scores.append(score / sqrt(size))
            powers = [exp(score - max(scores)) for score in scores]
            for c in range(start, start + size):
                joined[i].append(sum(p * V[j][c] for j, p in enumerate(powers)) / sum(powers))
    return np.array(product(joined, Wo.tolist()), dtype=X.dtype)
