from math import exp, tanh

import numpy as np


def times(matrix, vector):
    if len(matrix[0]) != len(vector):
        raise ValueError("a matrix doesn't fit its vector")
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def plus(a, b):
    return [x + y for x, y in zip(a, b, strict=True)]


def softmax(scores):
    top = max(scores)
    powers = [exp(score - top) for score in scores]
    return [power / sum(powers) for power in powers]


def decoder_step(y, s, H, p):
    dtype = s.dtype
    p = {name: array.tolist() for name, array in p.items()}
    y, s, H = y.tolist(), s.tolist(), H.tolist()
    query = times(p["W"], s)
    scores = []
    for h in H:
        hidden = [tanh(z) for z in plus(query, times(p["U"], h))]
        scores += times([p["v"]], hidden)
    w = softmax(scores)
    c = times(list(zip(*H, strict=True)), w)
    s_new = [tanh(z) for z in plus(times(p["Wx"], c + y), times(p["Ws"], s))]
    if len(s_new) != len(s):
        raise ValueError("the new state has another size than the old one")
    P = softmax(times(p["Wy"], s_new))
    return tuple(np.array(result, dtype=dtype) for result in (w, c, s_new, P))
