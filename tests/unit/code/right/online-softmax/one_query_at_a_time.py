import numpy as np


def step(m, l, o, scores, V):
    top = max(m, scores.max())
    scale = np.exp(m - top)
    weights = np.exp(scores - top)
    return top, l * scale + weights.sum(), o * scale + weights @ V


def online_softmax(m, l, o, x, V):
    rows = [step(*row, V) for row in zip(m, l, o, x, strict=True)]
    return tuple(np.stack(column).astype(V.dtype) for column in zip(*rows, strict=True))
